// Command venn runs a local network of peers that know, approximately and cheaply, what the others hold.
package main

func main() {}
