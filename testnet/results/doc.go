// Package results computes figures from the runs of scenarios, on either engine, and writes them.
//
// [Rows] computes figures, with 95 % intervals over the trials. [Result.WriteText] writes them for a terminal.
// [Result.Write] writes them to a folder: as rows (JSON, CSV), as drawings, and as one page with all of them. It
// also writes the queries, seconds and kinds of messages of every run, as CSV and NDJSON. [Compare] compares two
// such folders, [Engines] two runs of one plan, and [AnswersOf] writes rows as the answers of a scenario's file.
package results
