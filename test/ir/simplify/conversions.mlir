// A pair of conversions is one when the first keeps every value; else both stay.
// run: lazuli opt --passes=simplify %s
// check: stablehlo.convert %arg0 : (tensor<3xi8>) -> tensor<3xi64>
// check-next: stablehlo.convert %arg1 : (tensor<3xf32>) -> tensor<3xbf16>
// check-next: stablehlo.convert %1 : (tensor<3xbf16>) -> tensor<3xf32>
// check-next: return %0, %arg2, %2
module {
  func.func public @main(%i: tensor<3xi8>, %f: tensor<3xf32>, %h: tensor<3xbf16>) -> (tensor<3xi64>, tensor<3xbf16>, tensor<3xf32>) {
    %0 = stablehlo.convert %i : (tensor<3xi8>) -> tensor<3xi32>
    %1 = stablehlo.convert %0 : (tensor<3xi32>) -> tensor<3xi64>
    %2 = stablehlo.convert %h : (tensor<3xbf16>) -> tensor<3xf32>
    %3 = stablehlo.convert %2 : (tensor<3xf32>) -> tensor<3xbf16>
    %4 = stablehlo.convert %f : (tensor<3xf32>) -> tensor<3xbf16>
    %5 = stablehlo.convert %4 : (tensor<3xbf16>) -> tensor<3xf32>
    return %1, %3, %5 : tensor<3xi64>, tensor<3xbf16>, tensor<3xf32>
  }
}
