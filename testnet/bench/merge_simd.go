//go:build goexperiment.simd && amd64

package main

const mergeBuild = ", GOEXPERIMENT=simd"

var mergeTargets = []float64{5, 2.5} // 16 KiB, 1 MiB
