// Of a long transform only short tables are stored: the program computes its chirp and its twiddle factors.
// run: lazuli opt --emit=plan %s
// check: {{ [0-9][0-9]?[0-9]?[0-9]?[0-9]?[0-9]? constant bytes}}
func.func @main(%x: tensor<1000003xf32>, %y: tensor<1048576xcomplex<f64>>) -> (tensor<500002xcomplex<f32>>, tensor<1048576xcomplex<f64>>) {
  %0 = stablehlo.fft %x, type = RFFT, length = [1000003] : (tensor<1000003xf32>) -> tensor<500002xcomplex<f32>>
  %1 = stablehlo.fft %y, type = IFFT, length = [1048576] : (tensor<1048576xcomplex<f64>>) -> tensor<1048576xcomplex<f64>>
  return %0, %1 : tensor<500002xcomplex<f32>>, tensor<1048576xcomplex<f64>>
}
