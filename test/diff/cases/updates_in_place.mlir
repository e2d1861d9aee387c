// Loops that update rows of an array they carry, made of other rows of it.
module @updates {
  func.func public @main(%a: tensor<20x37xf32>, %b: tensor<20x37xf32>) -> (tensor<20x37xf32>, tensor<20x37xf32>, tensor<20x37xf32>, tensor<20x37xf32>, tensor<20x37xf32>, tensor<20x37xf32>, tensor<20x37xf32>) {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r0:3 = stablehlo.while(%i = %one, %u = %a, %x = %b) : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
     cond {
      %end = stablehlo.constant dense<20> : tensor<i32>
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %next = stablehlo.add %i, %c1 : tensor<i32>
      %prev = stablehlo.subtract %i, %c1 : tensor<i32>
      %s = stablehlo.dynamic_slice %u, %prev, %c0, sizes = [1, 37] : (tensor<20x37xf32>, tensor<i32>, tensor<i32>) -> tensor<1x37xf32>
      %t = stablehlo.dynamic_slice %x, %i, %c0, sizes = [1, 37] : (tensor<20x37xf32>, tensor<i32>, tensor<i32>) -> tensor<1x37xf32>
      %v = stablehlo.add %s, %t : tensor<1x37xf32>
      %n = stablehlo.dynamic_update_slice %u, %v, %i, %c0 : (tensor<20x37xf32>, tensor<1x37xf32>, tensor<i32>, tensor<i32>) -> tensor<20x37xf32>
      stablehlo.return %next, %n, %x : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
    }
    %r1:3 = stablehlo.while(%i = %one, %u = %r0#1, %x = %b) : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
     cond {
      %end = stablehlo.constant dense<20> : tensor<i32>
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %next = stablehlo.add %i, %c1 : tensor<i32>
      %prev = stablehlo.subtract %i, %c1 : tensor<i32>
      %s = stablehlo.dynamic_slice %u, %prev, %c0, sizes = [1, 37] : (tensor<20x37xf32>, tensor<i32>, tensor<i32>) -> tensor<1x37xf32>
      %t = stablehlo.dynamic_slice %u, %i, %c0, sizes = [1, 37] : (tensor<20x37xf32>, tensor<i32>, tensor<i32>) -> tensor<1x37xf32>
      %m = stablehlo.dynamic_update_slice %u, %s, %i, %c0 : (tensor<20x37xf32>, tensor<1x37xf32>, tensor<i32>, tensor<i32>) -> tensor<20x37xf32>
      %n = stablehlo.dynamic_update_slice %m, %t, %prev, %c0 : (tensor<20x37xf32>, tensor<1x37xf32>, tensor<i32>, tensor<i32>) -> tensor<20x37xf32>
      stablehlo.return %next, %n, %x : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
    }
    %r2:3 = stablehlo.while(%i = %one, %u = %a, %x = %b) : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
     cond {
      %end = stablehlo.constant dense<20> : tensor<i32>
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %next = stablehlo.add %i, %c1 : tensor<i32>
      %prev = stablehlo.subtract %i, %c1 : tensor<i32>
      %s = stablehlo.dynamic_slice %u, %prev, %c0, sizes = [1, 37] : (tensor<20x37xf32>, tensor<i32>, tensor<i32>) -> tensor<1x37xf32>
      %v = stablehlo.reverse %s, dims = [1] : tensor<1x37xf32>
      %n = stablehlo.dynamic_update_slice %u, %v, %i, %c0 : (tensor<20x37xf32>, tensor<1x37xf32>, tensor<i32>, tensor<i32>) -> tensor<20x37xf32>
      stablehlo.return %next, %n, %x : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
    }
    %r3:3 = stablehlo.while(%i = %one, %u = %a, %x = %b) : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
     cond {
      %end = stablehlo.constant dense<20> : tensor<i32>
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %next = stablehlo.add %i, %c1 : tensor<i32>
      %prev = stablehlo.subtract %i, %c1 : tensor<i32>
      %s = stablehlo.dynamic_slice %u, %i, %c0, sizes = [1, 37] : (tensor<20x37xf32>, tensor<i32>, tensor<i32>) -> tensor<1x37xf32>
      %t = stablehlo.dynamic_slice %u, %i, %i, sizes = [1, 1] : (tensor<20x37xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
      %w = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x37xf32>
      %v = stablehlo.subtract %s, %w : tensor<1x37xf32>
      %n = stablehlo.dynamic_update_slice %u, %v, %i, %c0 : (tensor<20x37xf32>, tensor<1x37xf32>, tensor<i32>, tensor<i32>) -> tensor<20x37xf32>
      stablehlo.return %next, %n, %x : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
    }
    %r4:3 = stablehlo.while(%i = %one, %u = %a, %x = %b) : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
     cond {
      %end = stablehlo.constant dense<19> : tensor<i32>
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %next = stablehlo.add %i, %c1 : tensor<i32>
      %prev = stablehlo.subtract %i, %c1 : tensor<i32>
      %s = stablehlo.dynamic_slice %u, %prev, %i, sizes = [1, 1] : (tensor<20x37xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
      %t = stablehlo.dynamic_slice %u, %i, %prev, sizes = [1, 1] : (tensor<20x37xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
      %v = stablehlo.add %s, %t : tensor<1x1xf32>
      %n = stablehlo.dynamic_update_slice %u, %v, %i, %i : (tensor<20x37xf32>, tensor<1x1xf32>, tensor<i32>, tensor<i32>) -> tensor<20x37xf32>
      stablehlo.return %next, %n, %x : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
    }
    %r5:3 = stablehlo.while(%i = %one, %u = %a, %x = %b) : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
     cond {
      %end = stablehlo.constant dense<16> : tensor<i32>
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %next = stablehlo.add %i, %c1 : tensor<i32>
      %prev = stablehlo.subtract %i, %c1 : tensor<i32>
      %s = stablehlo.dynamic_slice %u, %prev, %c0, sizes = [4, 37] : (tensor<20x37xf32>, tensor<i32>, tensor<i32>) -> tensor<4x37xf32>
      %n = stablehlo.dynamic_update_slice %u, %s, %i, %c0 : (tensor<20x37xf32>, tensor<4x37xf32>, tensor<i32>, tensor<i32>) -> tensor<20x37xf32>
      stablehlo.return %next, %n, %x : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
    }
    %r6:3 = stablehlo.while(%i = %one, %u = %a, %x = %b) : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
     cond {
      %end = stablehlo.constant dense<5> : tensor<i32>
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %next = stablehlo.add %i, %c1 : tensor<i32>
      %prev = stablehlo.subtract %i, %c1 : tensor<i32>
      %s = stablehlo.dynamic_slice %u, %prev, %c0, sizes = [1, 37] : (tensor<20x37xf32>, tensor<i32>, tensor<i32>) -> tensor<1x37xf32>
      %k = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
      %n = "stablehlo.scatter"(%u, %k, %s) ({
      ^bb0(%old: tensor<f32>, %new: tensor<f32>):
        %sum = stablehlo.add %old, %new : tensor<f32>
        stablehlo.return %sum : tensor<f32>
      }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>, indices_are_sorted = true, unique_indices = true} : (tensor<20x37xf32>, tensor<1xi32>, tensor<1x37xf32>) -> tensor<20x37xf32>
      stablehlo.return %next, %n, %x : tensor<i32>, tensor<20x37xf32>, tensor<20x37xf32>
    }
    return %r0#1, %r1#1, %r2#1, %r3#1, %r4#1, %r5#1, %r6#1 : tensor<20x37xf32>, tensor<20x37xf32>, tensor<20x37xf32>, tensor<20x37xf32>, tensor<20x37xf32>, tensor<20x37xf32>, tensor<20x37xf32>
  }
}
