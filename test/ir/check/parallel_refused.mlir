// run: lazuli run --device ref %s
// error: there is no function @h
// error: run_parallel: the attribute programs is missing
// error: run_parallel: rows of several lengths
// error: run_parallel: the operands are not those of the programs
// error: run_parallel: the participants meet in different operations
// error: run_parallel: a group names a participant that there is not
// error: run_parallel: a participant is in no group
// error: gives 2 results, but the text has 1 types
// error: run_parallel: tokens and tuples of participants
// error: run_parallel: a participant runs others
// error: run_parallel: replica_id in a region of a participant
// error: run_parallel: partition_id in a region of a participant
// error: run_parallel: all_reduce in a region of a participant
// error: parallel_refused.mlir:298:13: run_parallel: a group names a participant that there is not
// error: parallel_refused.mlir:312:10: run_parallel: a permutation names a participant that there is not

module @m {
  func.func @f(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @g(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1.0> : tensor<2xf32>
    %0:2 = "interpreter.run_parallel"(%a, %a) {programs=[[@f], [@h]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    func.return
  }
}

// -----

module @m {
  func.func @f(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @g(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1.0> : tensor<2xf32>
    %0:2 = "interpreter.run_parallel"(%a, %a) {others=1} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    func.return
  }
}

// -----

module @m {
  func.func @f(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @g(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1.0> : tensor<2xf32>
    %0:2 = "interpreter.run_parallel"(%a, %a) {programs=[[@f, @f], [@f]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    func.return
  }
}

// -----

module @m {
  func.func @f(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @g(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1.0> : tensor<2xf32>
    %0:2 = "interpreter.run_parallel"(%a) {programs=[[@f], [@f]]} : (tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    func.return
  }
}

// -----

module @m {
  func.func @f(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @g(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1.0> : tensor<2xf32>
    %0:2 = "interpreter.run_parallel"(%a, %a) {programs=[[@f], [@g]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    func.return
  }
}

// -----

module @m {
  func.func @f(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @g(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1.0> : tensor<2xf32>
    %0:2 = "interpreter.run_parallel"(%a, %a) {programs=[[@f], [@f]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    func.return
  }
}

// -----

module @m {
  func.func @f(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @g(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1.0> : tensor<2xf32>
    %0:2 = "interpreter.run_parallel"(%a, %a, %a) {programs=[[@f], [@f], [@f]]} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    func.return
  }
}

// -----

module @m {
  func.func @f(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @g(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1.0> : tensor<2xf32>
    %0 = "interpreter.run_parallel"(%a, %a) {programs=[[@f], [@f]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>)
    func.return
  }
}

// -----

module @m {
  func.func @f(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @g(%x: tensor<2xf32>) -> tensor<4xf32> {
    %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @t(%x: tensor<2xf32>) -> (tensor<4xf32>, !stablehlo.token) {
    %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %1 = stablehlo.create_token : !stablehlo.token
    return %0, %1 : tensor<4xf32>, !stablehlo.token
  }
  func.func @main() {
    %a = stablehlo.constant dense<1.0> : tensor<2xf32>
    %0:2 = "interpreter.run_parallel"(%a, %a) {programs=[[@t], [@t]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    func.return
  }
}

// -----

module @m {
  func.func @f(%x: tensor<f32>) -> tensor<f32> {
    return %x : tensor<f32>
  }
  func.func @g(%x: tensor<f32>) -> tensor<f32> {
    %0 = "interpreter.run_parallel"(%x) {programs=[[@f]]} : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1.0> : tensor<f32>
    %0 = "interpreter.run_parallel"(%a) {programs=[[@g]]} : (tensor<f32>) -> tensor<f32>
    func.return
  }
}

// -----

// Read outside of the region first.
module @m {
  func.func private @where() -> tensor<ui32> {
    %0 = stablehlo.replica_id : tensor<ui32>
    return %0 : tensor<ui32>
  }
  func.func @f(%p: tensor<i1>) -> (tensor<ui32>, tensor<ui32>) {
    %0 = call @where() : () -> tensor<ui32>
    %1 = "stablehlo.if"(%p) ({
      %2 = call @where() : () -> tensor<ui32>
      stablehlo.return %2 : tensor<ui32>
    }, {
      %3 = stablehlo.constant dense<7> : tensor<ui32>
      stablehlo.return %3 : tensor<ui32>
    }) : (tensor<i1>) -> tensor<ui32>
    return %0, %1 : tensor<ui32>, tensor<ui32>
  }
  func.func @main() {
    %p = stablehlo.constant dense<true> : tensor<i1>
    %0:4 = "interpreter.run_parallel"(%p, %p) {programs=[[@f], [@f]]} : (tensor<i1>, tensor<i1>) -> (tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>)
    check.expect_eq_const %0#3, dense<1> : tensor<ui32>
    func.return
  }
}

// -----

// In a region of a region.
module @m {
  func.func @f(%n: tensor<ui32>) -> tensor<ui32> {
    %p = stablehlo.constant dense<true> : tensor<i1>
    %zero = stablehlo.constant dense<0> : tensor<ui32>
    %one = stablehlo.constant dense<1> : tensor<ui32>
    %0:2 = stablehlo.while(%i = %n, %s = %zero) : tensor<ui32>, tensor<ui32>
    cond {
      %c = stablehlo.compare GT, %i, %zero : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %1 = "stablehlo.if"(%p) ({
        %2 = stablehlo.partition_id : tensor<ui32>
        %3 = stablehlo.add %2, %s : tensor<ui32>
        stablehlo.return %3 : tensor<ui32>
      }, {
        stablehlo.return %one : tensor<ui32>
      }) : (tensor<i1>) -> tensor<ui32>
      %next = stablehlo.subtract %i, %one : tensor<ui32>
      stablehlo.return %next, %1 : tensor<ui32>, tensor<ui32>
    }
    return %0#1 : tensor<ui32>
  }
  func.func @main() {
    %n = stablehlo.constant dense<2> : tensor<ui32>
    %0:2 = "interpreter.run_parallel"(%n, %n) {programs=[[@f, @f]]} : (tensor<ui32>, tensor<ui32>) -> (tensor<ui32>, tensor<ui32>)
    check.expect_eq_const %0#1, dense<2> : tensor<ui32>
    func.return
  }
}

// -----

module @m {
  func.func @f(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
    %0 = "stablehlo.if"(%p) ({
      %1 = "stablehlo.all_reduce"(%x) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<f32>) -> tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }, {
      stablehlo.return %x : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @main() {
    %p = stablehlo.constant dense<true> : tensor<i1>
    %a = stablehlo.constant dense<1.0> : tensor<f32>
    %0:2 = "interpreter.run_parallel"(%p, %a, %p, %a) {programs=[[@f], [@f]]} : (tensor<i1>, tensor<f32>, tensor<i1>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    func.return
  }
}

// -----

// A number that is too large to be multiplied.
module @m {
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 999999999999999999]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1.0> : tensor<2xf32>
    %0:16 = "interpreter.run_parallel"(%a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a) {programs=[[@f, @f, @f, @f, @f, @f, @f, @f, @f, @f, @f, @f, @f, @f, @f, @f]]} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
    func.return
  }
}

// -----

module @m {
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[999999999999999999, 0]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1.0> : tensor<2xf32>
    %0 = "interpreter.run_parallel"(%a) {programs=[[@f]]} : (tensor<2xf32>) -> tensor<2xf32>
    func.return
  }
}
