module own

go 1.26.0

require github.com/venn-p2p/venn v0.0.0

replace github.com/venn-p2p/venn => ../../../..
