//go:build !(goexperiment.simd && amd64)

package main

const mergeBuild = ""

var mergeTargets = []float64{1.1, 1.1} // 16 KiB, 1 MiB
