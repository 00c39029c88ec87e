make demo      # virtual environment, installation, a fit: equations and pictures in demo-output/
make test      # virtual environment, linters, types, every test
