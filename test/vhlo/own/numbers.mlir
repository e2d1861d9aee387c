// versions: 0.9.0 0.14.0 0.19.0 1.6.0 1.13.0 1.17.0
// constants of every kind of element, splats, and bits
module @numbers {
  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32>, tensor<9xi1>, tensor<2xcomplex<f32>>, tensor<i64>, tensor<3xui8>, tensor<2x2xbf16>, tensor<3xf16>, tensor<2xf64>, tensor<0x4xf32>, tensor<20xi1>, tensor<4xi1>, tensor<2xi16>, tensor<2xcomplex<f64>>, tensor<2xf8E4M3FN>, tensor<1xi1>, tensor<6xui64>) {
    %0 = stablehlo.constant dense<[1.5, -2.25, 0x7FC00001]> : tensor<3xf32>
    %1 = stablehlo.constant dense<[true, false, true, true, false, false, false, true, true]> : tensor<9xi1>
    %2 = stablehlo.constant dense<[(1.0, -2.0), (0.5, 0x7F800000)]> : tensor<2xcomplex<f32>>
    %3 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
    %4 = stablehlo.constant dense<[0, 127, 255]> : tensor<3xui8>
    %5 = stablehlo.constant dense<[[1.0, 2.0], [0xFF80, -0.0]]> : tensor<2x2xbf16>
    %6 = stablehlo.constant dense<6.5e+04> : tensor<3xf16>
    %7 = stablehlo.constant dense<[1.0e-310, 0xFFF0000000000000]> : tensor<2xf64>
    %8 = stablehlo.constant dense<> : tensor<0x4xf32>
    %9 = stablehlo.constant dense<true> : tensor<20xi1>
    %10 = stablehlo.constant dense<false> : tensor<4xi1>
    %11 = stablehlo.constant dense<[-32768, 32767]> : tensor<2xi16>
    %12 = stablehlo.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f64>>
    %13 = stablehlo.constant dense<[1.0, -4.48e+02]> : tensor<2xf8E4M3FN>
    %14 = stablehlo.constant dense<true> : tensor<1xi1>
    %15 = stablehlo.constant dense<[0, 1, 18446744073709551615, 2, 3, 4]> : tensor<6xui64>
    %16 = stablehlo.add %arg0, %0 : tensor<3xf32>
    return %16, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 : tensor<3xf32>, tensor<9xi1>, tensor<2xcomplex<f32>>, tensor<i64>, tensor<3xui8>, tensor<2x2xbf16>, tensor<3xf16>, tensor<2xf64>, tensor<0x4xf32>, tensor<20xi1>, tensor<4xi1>, tensor<2xi16>, tensor<2xcomplex<f64>>, tensor<2xf8E4M3FN>, tensor<1xi1>, tensor<6xui64>
  }
}
