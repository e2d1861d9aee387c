// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: kept: 2 checks
// check: changed: 1 check
// error: probes.mlir:24:3: check.expect_serialized_eq: nothing outside of regions is written down as 'none' in round 0
// error: probes.mlir:34: check.expect_eq: [1] is 4, expected 3

func.func @kept() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %a = stablehlo.add %x, %x : tensor<2xi32>
  %b = interpreter.probe %a, probe_id = "sum" : tensor<2xi32>
  check.expect_serialized_eq %b, probe_id = "sum" : tensor<2xi32>
  %c = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  check.expect_serialized_eq %c, probe_id = "sum", iter = 0 : tensor<2xi32>
  func.return
}

// -----

func.func @nobody() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %a = interpreter.probe %x, probe_id = "some" : tensor<2xi32>
  // another name
  check.expect_serialized_eq %a, probe_id = "none" : tensor<2xi32>
  func.return
}

// -----

func.func @wrong() {
  %x = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %y = stablehlo.constant dense<[1, 4]> : tensor<2xi32>
  %a = "interpreter.probe"(%x) {probe_id = "p/0"} : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_serialized_eq %y, probe_id = "p/0" : tensor<2xi32>
  func.return
}

// -----

func.func @changed() {
  %x = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %a = interpreter.probe %x, probe_id = "p" : tensor<2xi32>
  %b = stablehlo.negate %a : tensor<2xi32>
  %c = stablehlo.negate %b : tensor<2xi32>
  check.expect_serialized_eq %c, probe_id = "p" : tensor<2xi32>
  func.return
}
