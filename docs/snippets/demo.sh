wgsindy demo --out demo-output
