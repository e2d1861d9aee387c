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
