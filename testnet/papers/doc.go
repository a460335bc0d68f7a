// Package papers holds formulas and schemes of venn's four papers that venn itself does not use. It has formulas for
// experiments to compare with, and the intervals that the papers' tables print. It also has hash schemes whose
// false-positive rate has a floor, and the count-min sketch with two hash functions.
//
//   - Mitzenmacher, "Compressed Bloom Filters" (2002)
//   - Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "An Improved Construction for Counting Bloom Filters" (2006)
//   - Kirsch and Mitzenmacher, "Less Hashing, Same Performance: Building a Better Bloom Filter" (2008)
//   - Papapetrou, Siberski and Nejdl, "Cardinality estimation and dynamic length adaptation for Bloom filters" (2010)
package papers
