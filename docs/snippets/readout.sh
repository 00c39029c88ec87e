wgsindy demo > demo.txt
wgsindy readout demo-output/model.json --rates --escape "x<-1" "x>1" --out picture.png
