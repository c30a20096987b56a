module trip

go 1.19
