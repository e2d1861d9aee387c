// Additions to rows of a result whose order counts: the threads of a GPU have some of the rows each.
func.func @main(%i0: tensor<300x1xi32>, %u0: tensor<300x48xf32>, %o0: tensor<90x48xf32>, %i1: tensor<300x1xi32>, %u1: tensor<300x33xf32>, %o1: tensor<90x33xf32>, %i2: tensor<200x1xi32>, %u2: tensor<200x40xbf16>, %o2: tensor<70x40xbf16>, %i3: tensor<150x1xi32>, %u3: tensor<150x70xi32>, %o3: tensor<200x70xi32>, %i4: tensor<400x1xi32>, %u4: tensor<400x5xf32>, %o4: tensor<8x5xf32>, %i5: tensor<50x1xi32>, %u5: tensor<50x1xf64>, %o5: tensor<3x1xf64>, %i6: tensor<100x1xi32>, %u6: tensor<100x9xf16>, %o6: tensor<66x9xf16>, %i7: tensor<20x1xi32>, %u7: tensor<20x40xf32>, %o7: tensor<30x40xf32>, %i8: tensor<40x1xi32>, %u8: tensor<40x70000xi8>, %o8: tensor<2x70000xi8>) -> (tensor<90x48xf32>, tensor<90x33xf32>, tensor<70x40xbf16>, tensor<200x70xi32>, tensor<8x5xf32>, tensor<3x1xf64>, tensor<66x9xf16>, tensor<30x40xf32>, tensor<2x70000xi8>) {
    %m0 = stablehlo.constant dense<127> : tensor<300x1xi32>
    %j0 = stablehlo.and %i0, %m0 : tensor<300x1xi32>
    %s0 = "stablehlo.scatter"(%o0, %j0, %u0) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<90x48xf32>, tensor<300x1xi32>, tensor<300x48xf32>) -> tensor<90x48xf32>
    %s1 = "stablehlo.scatter"(%o1, %i1, %u1) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<90x33xf32>, tensor<300x1xi32>, tensor<300x33xf32>) -> tensor<90x33xf32>
    %m2 = stablehlo.constant dense<63> : tensor<200x1xi32>
    %j2 = stablehlo.and %i2, %m2 : tensor<200x1xi32>
    %s2 = "stablehlo.scatter"(%o2, %j2, %u2) ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %c = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %c : tensor<bf16>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<70x40xbf16>, tensor<200x1xi32>, tensor<200x40xbf16>) -> tensor<70x40xbf16>
    %m3 = stablehlo.constant dense<255> : tensor<150x1xi32>
    %j3 = stablehlo.and %i3, %m3 : tensor<150x1xi32>
    %s3 = "stablehlo.scatter"(%o3, %j3, %u3) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<200x70xi32>, tensor<150x1xi32>, tensor<150x70xi32>) -> tensor<200x70xi32>
    %m4 = stablehlo.constant dense<7> : tensor<400x1xi32>
    %j4 = stablehlo.and %i4, %m4 : tensor<400x1xi32>
    %s4 = "stablehlo.scatter"(%o4, %j4, %u4) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<8x5xf32>, tensor<400x1xi32>, tensor<400x5xf32>) -> tensor<8x5xf32>
    %m5 = stablehlo.constant dense<3> : tensor<50x1xi32>
    %j5 = stablehlo.and %i5, %m5 : tensor<50x1xi32>
    %s5 = "stablehlo.scatter"(%o5, %j5, %u5) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %c = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %c : tensor<f64>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<3x1xf64>, tensor<50x1xi32>, tensor<50x1xf64>) -> tensor<3x1xf64>
    %m6 = stablehlo.constant dense<127> : tensor<100x1xi32>
    %j6 = stablehlo.and %i6, %m6 : tensor<100x1xi32>
    %s6 = "stablehlo.scatter"(%o6, %j6, %u6) ({
    ^bb0(%a: tensor<f16>, %b: tensor<f16>):
      %c = stablehlo.multiply %a, %b : tensor<f16>
      stablehlo.return %c : tensor<f16>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<66x9xf16>, tensor<100x1xi32>, tensor<100x9xf16>) -> tensor<66x9xf16>
    %m7 = stablehlo.constant dense<31> : tensor<20x1xi32>
    %j7 = stablehlo.and %i7, %m7 : tensor<20x1xi32>
    %s7 = "stablehlo.scatter"(%o7, %j7, %u7) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<30x40xf32>, tensor<20x1xi32>, tensor<20x40xf32>) -> tensor<30x40xf32>
    %m8 = stablehlo.constant dense<1> : tensor<40x1xi32>
    %j8 = stablehlo.and %i8, %m8 : tensor<40x1xi32>
    %s8 = "stablehlo.scatter"(%o8, %j8, %u8) ({
    ^bb0(%a: tensor<i8>, %b: tensor<i8>):
      %c = stablehlo.add %a, %b : tensor<i8>
      stablehlo.return %c : tensor<i8>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<2x70000xi8>, tensor<40x1xi32>, tensor<40x70000xi8>) -> tensor<2x70000xi8>
    return %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8 : tensor<90x48xf32>, tensor<90x33xf32>, tensor<70x40xbf16>, tensor<200x70xi32>, tensor<8x5xf32>, tensor<3x1xf64>, tensor<66x9xf16>, tensor<30x40xf32>, tensor<2x70000xi8>
}
