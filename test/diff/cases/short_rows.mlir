// Rows too short for vectors: what lies along rows, along columns, turned, reversed, padded, and their numbers.
module @short_rows {
  func.func public @main(%n2_x: tensor<40x2xf32>, %n2_row: tensor<40xf32>, %n2_col: tensor<2xf32>, %n2_t: tensor<2x40xf32>, %n2_k: tensor<40x2xui32>, %n2_key: tensor<40x1xui32>, %n2_b: tensor<3x40x2xbf16>, %n2_rb: tensor<40xbf16>, %n3_x: tensor<33x3xf32>, %n3_row: tensor<33xf32>, %n3_col: tensor<3xf32>, %n3_t: tensor<3x33xf32>, %n3_k: tensor<33x3xui32>, %n3_key: tensor<33x1xui32>, %n3_b: tensor<3x33x3xbf16>, %n3_rb: tensor<33xbf16>, %n5_x: tensor<9x5xf32>, %n5_row: tensor<9xf32>, %n5_col: tensor<5xf32>, %n5_t: tensor<5x9xf32>, %n5_k: tensor<9x5xui32>, %n5_key: tensor<9x1xui32>, %n5_b: tensor<3x9x5xbf16>, %n5_rb: tensor<9xbf16>, %n12_x: tensor<31x12xf32>, %n12_row: tensor<31xf32>, %n12_col: tensor<12xf32>, %n12_t: tensor<12x31xf32>, %n12_k: tensor<31x12xui32>, %n12_key: tensor<31x1xui32>, %n12_b: tensor<3x31x12xbf16>, %n12_rb: tensor<31xbf16>) -> (tensor<40x2xf32>, tensor<40x2xi64>, tensor<40x2xf32>, tensor<40x2xui32>, tensor<3x40x2xbf16>, tensor<40x2xi1>, tensor<33x3xf32>, tensor<33x3xi64>, tensor<33x3xf32>, tensor<33x3xui32>, tensor<3x33x3xbf16>, tensor<33x3xi1>, tensor<9x5xf32>, tensor<9x5xi64>, tensor<9x5xf32>, tensor<9x5xui32>, tensor<3x9x5xbf16>, tensor<9x5xi1>, tensor<31x12xf32>, tensor<31x12xi64>, tensor<31x12xf32>, tensor<31x12xui32>, tensor<3x31x12xbf16>, tensor<31x12xi1>) {
    // rows of 2
    %n2_0 = stablehlo.broadcast_in_dim %n2_row, dims = [0] : (tensor<40xf32>) -> tensor<40x2xf32>
    %n2_1 = stablehlo.broadcast_in_dim %n2_col, dims = [1] : (tensor<2xf32>) -> tensor<40x2xf32>
    %n2_2 = stablehlo.add %n2_x, %n2_0 : tensor<40x2xf32>
    %n2_3 = stablehlo.multiply %n2_2, %n2_1 : tensor<40x2xf32>
    %n2_4 = stablehlo.transpose %n2_t, dims = [1, 0] : (tensor<2x40xf32>) -> tensor<40x2xf32>
    %n2_5 = stablehlo.subtract %n2_3, %n2_4 : tensor<40x2xf32>
    %n2_i = stablehlo.iota dim = 0 : tensor<40x2xi64>
    %n2_j = stablehlo.iota dim = 1 : tensor<40x2xi64>
    %n2_c = stablehlo.constant dense<1000> : tensor<40x2xi64>
    %n2_6 = stablehlo.multiply %n2_i, %n2_c : tensor<40x2xi64>
    %n2_7 = stablehlo.add %n2_6, %n2_j : tensor<40x2xi64>
    %n2_8 = stablehlo.reverse %n2_x, dims = [1] : tensor<40x2xf32>
    %n2_z = stablehlo.constant dense<-2.5> : tensor<f32>
    %n2_9 = stablehlo.pad %n2_x, %n2_z, low = [2, 1], high = [-2, -1], interior = [0, 0] : (tensor<40x2xf32>, tensor<f32>) -> tensor<40x2xf32>
    %n2_10 = stablehlo.maximum %n2_8, %n2_9 : tensor<40x2xf32>
    %n2_11 = stablehlo.add %n2_10, %n2_0 : tensor<40x2xf32>
    %n2_12 = stablehlo.broadcast_in_dim %n2_key, dims = [0, 1] : (tensor<40x1xui32>) -> tensor<40x2xui32>
    %n2_13 = stablehlo.add %n2_k, %n2_12 : tensor<40x2xui32>
    %n2_14 = stablehlo.xor %n2_13, %n2_k : tensor<40x2xui32>
    %n2_15 = stablehlo.broadcast_in_dim %n2_rb, dims = [1] : (tensor<40xbf16>) -> tensor<3x40x2xbf16>
    %n2_16 = stablehlo.multiply %n2_b, %n2_15 : tensor<3x40x2xbf16>
    %n2_17 = stablehlo.compare LT, %n2_x, %n2_0, FLOAT : (tensor<40x2xf32>, tensor<40x2xf32>) -> tensor<40x2xi1>
    // rows of 3
    %n3_0 = stablehlo.broadcast_in_dim %n3_row, dims = [0] : (tensor<33xf32>) -> tensor<33x3xf32>
    %n3_1 = stablehlo.broadcast_in_dim %n3_col, dims = [1] : (tensor<3xf32>) -> tensor<33x3xf32>
    %n3_2 = stablehlo.add %n3_x, %n3_0 : tensor<33x3xf32>
    %n3_3 = stablehlo.multiply %n3_2, %n3_1 : tensor<33x3xf32>
    %n3_4 = stablehlo.transpose %n3_t, dims = [1, 0] : (tensor<3x33xf32>) -> tensor<33x3xf32>
    %n3_5 = stablehlo.subtract %n3_3, %n3_4 : tensor<33x3xf32>
    %n3_i = stablehlo.iota dim = 0 : tensor<33x3xi64>
    %n3_j = stablehlo.iota dim = 1 : tensor<33x3xi64>
    %n3_c = stablehlo.constant dense<1000> : tensor<33x3xi64>
    %n3_6 = stablehlo.multiply %n3_i, %n3_c : tensor<33x3xi64>
    %n3_7 = stablehlo.add %n3_6, %n3_j : tensor<33x3xi64>
    %n3_8 = stablehlo.reverse %n3_x, dims = [1] : tensor<33x3xf32>
    %n3_z = stablehlo.constant dense<-2.5> : tensor<f32>
    %n3_9 = stablehlo.pad %n3_x, %n3_z, low = [2, 1], high = [-2, -1], interior = [0, 0] : (tensor<33x3xf32>, tensor<f32>) -> tensor<33x3xf32>
    %n3_10 = stablehlo.maximum %n3_8, %n3_9 : tensor<33x3xf32>
    %n3_11 = stablehlo.add %n3_10, %n3_0 : tensor<33x3xf32>
    %n3_12 = stablehlo.broadcast_in_dim %n3_key, dims = [0, 1] : (tensor<33x1xui32>) -> tensor<33x3xui32>
    %n3_13 = stablehlo.add %n3_k, %n3_12 : tensor<33x3xui32>
    %n3_14 = stablehlo.xor %n3_13, %n3_k : tensor<33x3xui32>
    %n3_15 = stablehlo.broadcast_in_dim %n3_rb, dims = [1] : (tensor<33xbf16>) -> tensor<3x33x3xbf16>
    %n3_16 = stablehlo.multiply %n3_b, %n3_15 : tensor<3x33x3xbf16>
    %n3_17 = stablehlo.compare LT, %n3_x, %n3_0, FLOAT : (tensor<33x3xf32>, tensor<33x3xf32>) -> tensor<33x3xi1>
    // rows of 5
    %n5_0 = stablehlo.broadcast_in_dim %n5_row, dims = [0] : (tensor<9xf32>) -> tensor<9x5xf32>
    %n5_1 = stablehlo.broadcast_in_dim %n5_col, dims = [1] : (tensor<5xf32>) -> tensor<9x5xf32>
    %n5_2 = stablehlo.add %n5_x, %n5_0 : tensor<9x5xf32>
    %n5_3 = stablehlo.multiply %n5_2, %n5_1 : tensor<9x5xf32>
    %n5_4 = stablehlo.transpose %n5_t, dims = [1, 0] : (tensor<5x9xf32>) -> tensor<9x5xf32>
    %n5_5 = stablehlo.subtract %n5_3, %n5_4 : tensor<9x5xf32>
    %n5_i = stablehlo.iota dim = 0 : tensor<9x5xi64>
    %n5_j = stablehlo.iota dim = 1 : tensor<9x5xi64>
    %n5_c = stablehlo.constant dense<1000> : tensor<9x5xi64>
    %n5_6 = stablehlo.multiply %n5_i, %n5_c : tensor<9x5xi64>
    %n5_7 = stablehlo.add %n5_6, %n5_j : tensor<9x5xi64>
    %n5_8 = stablehlo.reverse %n5_x, dims = [1] : tensor<9x5xf32>
    %n5_z = stablehlo.constant dense<-2.5> : tensor<f32>
    %n5_9 = stablehlo.pad %n5_x, %n5_z, low = [2, 1], high = [-2, -1], interior = [0, 0] : (tensor<9x5xf32>, tensor<f32>) -> tensor<9x5xf32>
    %n5_10 = stablehlo.maximum %n5_8, %n5_9 : tensor<9x5xf32>
    %n5_11 = stablehlo.add %n5_10, %n5_0 : tensor<9x5xf32>
    %n5_12 = stablehlo.broadcast_in_dim %n5_key, dims = [0, 1] : (tensor<9x1xui32>) -> tensor<9x5xui32>
    %n5_13 = stablehlo.add %n5_k, %n5_12 : tensor<9x5xui32>
    %n5_14 = stablehlo.xor %n5_13, %n5_k : tensor<9x5xui32>
    %n5_15 = stablehlo.broadcast_in_dim %n5_rb, dims = [1] : (tensor<9xbf16>) -> tensor<3x9x5xbf16>
    %n5_16 = stablehlo.multiply %n5_b, %n5_15 : tensor<3x9x5xbf16>
    %n5_17 = stablehlo.compare LT, %n5_x, %n5_0, FLOAT : (tensor<9x5xf32>, tensor<9x5xf32>) -> tensor<9x5xi1>
    // rows of 12
    %n12_0 = stablehlo.broadcast_in_dim %n12_row, dims = [0] : (tensor<31xf32>) -> tensor<31x12xf32>
    %n12_1 = stablehlo.broadcast_in_dim %n12_col, dims = [1] : (tensor<12xf32>) -> tensor<31x12xf32>
    %n12_2 = stablehlo.add %n12_x, %n12_0 : tensor<31x12xf32>
    %n12_3 = stablehlo.multiply %n12_2, %n12_1 : tensor<31x12xf32>
    %n12_4 = stablehlo.transpose %n12_t, dims = [1, 0] : (tensor<12x31xf32>) -> tensor<31x12xf32>
    %n12_5 = stablehlo.subtract %n12_3, %n12_4 : tensor<31x12xf32>
    %n12_i = stablehlo.iota dim = 0 : tensor<31x12xi64>
    %n12_j = stablehlo.iota dim = 1 : tensor<31x12xi64>
    %n12_c = stablehlo.constant dense<1000> : tensor<31x12xi64>
    %n12_6 = stablehlo.multiply %n12_i, %n12_c : tensor<31x12xi64>
    %n12_7 = stablehlo.add %n12_6, %n12_j : tensor<31x12xi64>
    %n12_8 = stablehlo.reverse %n12_x, dims = [1] : tensor<31x12xf32>
    %n12_z = stablehlo.constant dense<-2.5> : tensor<f32>
    %n12_9 = stablehlo.pad %n12_x, %n12_z, low = [2, 1], high = [-2, -1], interior = [0, 0] : (tensor<31x12xf32>, tensor<f32>) -> tensor<31x12xf32>
    %n12_10 = stablehlo.maximum %n12_8, %n12_9 : tensor<31x12xf32>
    %n12_11 = stablehlo.add %n12_10, %n12_0 : tensor<31x12xf32>
    %n12_12 = stablehlo.broadcast_in_dim %n12_key, dims = [0, 1] : (tensor<31x1xui32>) -> tensor<31x12xui32>
    %n12_13 = stablehlo.add %n12_k, %n12_12 : tensor<31x12xui32>
    %n12_14 = stablehlo.xor %n12_13, %n12_k : tensor<31x12xui32>
    %n12_15 = stablehlo.broadcast_in_dim %n12_rb, dims = [1] : (tensor<31xbf16>) -> tensor<3x31x12xbf16>
    %n12_16 = stablehlo.multiply %n12_b, %n12_15 : tensor<3x31x12xbf16>
    %n12_17 = stablehlo.compare LT, %n12_x, %n12_0, FLOAT : (tensor<31x12xf32>, tensor<31x12xf32>) -> tensor<31x12xi1>
    return %n2_5, %n2_7, %n2_11, %n2_14, %n2_16, %n2_17, %n3_5, %n3_7, %n3_11, %n3_14, %n3_16, %n3_17, %n5_5, %n5_7, %n5_11, %n5_14, %n5_16, %n5_17, %n12_5, %n12_7, %n12_11, %n12_14, %n12_16, %n12_17 : tensor<40x2xf32>, tensor<40x2xi64>, tensor<40x2xf32>, tensor<40x2xui32>, tensor<3x40x2xbf16>, tensor<40x2xi1>, tensor<33x3xf32>, tensor<33x3xi64>, tensor<33x3xf32>, tensor<33x3xui32>, tensor<3x33x3xbf16>, tensor<33x3xi1>, tensor<9x5xf32>, tensor<9x5xi64>, tensor<9x5xf32>, tensor<9x5xui32>, tensor<3x9x5xbf16>, tensor<9x5xi1>, tensor<31x12xf32>, tensor<31x12xi64>, tensor<31x12xf32>, tensor<31x12xui32>, tensor<3x31x12xbf16>, tensor<31x12xi1>
  }
}
