// Package mirror fetches what clients of registries and package archives ask for, from peers that have it, else from
// the origin. Clients stay as they are: an adapter speaks the protocol of each.
//
// Content is known by a hash (Sum), and its key in the network is the multihash. A request for content that is not in
// the cache begins a fetch, which all requests for the same content share:
//
//  1. The key is advertised, as an intent: others that look for it find this mirror. All mirrors draw the same two from
//     the hash, which say at once who else has begun.
//  2. Meanwhile the router names holders, which are asked which part they have. The first to answer are the nearest.
//  3. Whole holders give ranges, up to four of them at once. When one falls silent, another brings the rest of its
//     range. A mirror that is still fetching passes on what it has, and the rest as it comes. Of many that begin at
//     once few ask the origin, and all but one stop asking it as soon as they know a mirror that can give the bytes.
//  4. Where nobody has it, the origin gives it, with the client's credentials, which go nowhere else.
//  5. The hash is checked as the bytes come. Until it has proved right, the last bytes are held back from everybody, so
//     nobody takes wrong content for whole. Then the content is kept, and stays advertised until it is evicted.
//
// Names, whose content may change, and content for known clients are the origin's alone: see README.md.
package mirror
