make demo      # virtual environment, installation, a fit: equations, verdict, demo-output/report.html
make test      # virtual environment, linters, types, tests
