// run: lazuli run --device cpu %s
// run: lazuli run --device ref %s
// check: main: 2 checks
// check: main: 4 checks
// check: main: 4 checks
// check: main: 4 checks
// check: main: 8 checks
// check: main: 6 checks
// check: main: 2 checks
// check: main: 4 checks
// check: main: 4 checks

// Replicas join in the order of the group; other programs meet in the same operation.
module @replicas {
  func.func private @twice(%x: tensor<1x2xi32>) -> tensor<1x4xi32> {
    %0 = stablehlo.add %x, %x : tensor<1x2xi32>
    %1 = "stablehlo.all_gather"(%0) {all_gather_dim = 1 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<1x2xi32>) -> tensor<1x4xi32>
    return %1 : tensor<1x4xi32>
  }
  func.func @minus(%x: tensor<1x2xi32>) -> tensor<1x4xi32> {
    %0 = stablehlo.negate %x : tensor<1x2xi32>
    %1 = "stablehlo.all_gather"(%0) {all_gather_dim = 1 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<1x2xi32>) -> tensor<1x4xi32>
    %2 = stablehlo.negate %1 : tensor<1x4xi32>
    return %2 : tensor<1x4xi32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi32>
    %b = stablehlo.constant dense<[[3, 4]]> : tensor<1x2xi32>
    %0:2 = "interpreter.run_parallel"(%a, %b) {programs=[[@twice], ["minus"]]} : (tensor<1x2xi32>, tensor<1x2xi32>) -> (tensor<1x4xi32>, tensor<1x4xi32>)
    check.expect_eq_const %0#0, dense<[[-3, -4, 2, 4]]> : tensor<1x4xi32>
    check.expect_eq_const %0#1, dense<[[3, 4, -2, -4]]> : tensor<1x4xi32>
    func.return
  }
}

// -----

// Where everybody is; a group of all partitions of two replicas.
module @places {
  func.func @f() -> tensor<4xui32> {
    %r = stablehlo.replica_id : tensor<ui32>
    %p = stablehlo.partition_id : tensor<ui32>
    %ten = stablehlo.constant dense<10> : tensor<ui32>
    %0 = stablehlo.multiply %r, %ten : tensor<ui32>
    %1 = stablehlo.add %0, %p : tensor<ui32>
    %2 = stablehlo.reshape %1 : (tensor<ui32>) -> tensor<1xui32>
    %3 = "stablehlo.all_gather"(%2) {all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<1xui32>) -> tensor<4xui32>
    return %3 : tensor<4xui32>
  }
  func.func @main() {
    %0:4 = "interpreter.run_parallel"() {programs=[[@f, @f], [@f, @f]]} : () -> (tensor<4xui32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>)
    check.expect_eq_const %0#0, dense<[10, 11, 0, 1]> : tensor<4xui32>
    check.expect_eq_const %0#1, dense<[10, 11, 0, 1]> : tensor<4xui32>
    check.expect_eq_const %0#2, dense<[10, 11, 0, 1]> : tensor<4xui32>
    check.expect_eq_const %0#3, dense<[10, 11, 0, 1]> : tensor<4xui32>
    func.return
  }
}

// -----

// Numbers of all participants, in groups of several lengths; a region with a constant, twice.
module @flat {
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %one = stablehlo.constant dense<1.0> : tensor<f32>
        %s = stablehlo.add %a, %b : tensor<f32>
        %t = stablehlo.add %s, %one : tensor<f32>
        stablehlo.return %t : tensor<f32>
    }) {replica_groups = dense<[[0, 1, 3], [2, -1, -1]]> : tensor<2x3xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.all_reduce"(%0) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %m = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %m : tensor<f32>
    }) {replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1.0, -1.0]> : tensor<2xf32>
    %b = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
    %c = stablehlo.constant dense<[30.0, 40.0]> : tensor<2xf32>
    %d = stablehlo.constant dense<[4.0, -2.0]> : tensor<2xf32>
    %0:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs=[[@f, @f], [@f, @f]]} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
    check.expect_eq_const %0#0, dense<[9.0, -0.5]> : tensor<2xf32>
    check.expect_eq_const %0#1, dense<[9.0, -0.5]> : tensor<2xf32>
    check.expect_eq_const %0#2, dense<[30.0, 40.0]> : tensor<2xf32>
    check.expect_eq_const %0#3, dense<[9.0, -0.5]> : tensor<2xf32>
    func.return
  }
}

// -----

// Two partitions scatter what they add up, then exchange it; a participant with two operands.
module @partitions {
  func.func @f(%x: tensor<2x2xi64>, %y: tensor<4xi64>) -> (tensor<2x2xi64>, tensor<2xi64>) {
    %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2x2xi64>) -> tensor<2x2xi64>
    %1 = "stablehlo.reduce_scatter"(%y) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.multiply %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<4xi64>) -> tensor<2xi64>
    return %0, %1 : tensor<2x2xi64>, tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
    %b = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
    %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
    %d = stablehlo.constant dense<[10, 10, 10, -10]> : tensor<4xi64>
    %0:4 = "interpreter.run_parallel"(%a, %c, %b, %d) {programs=[[@f, @f]]} : (tensor<2x2xi64>, tensor<4xi64>, tensor<2x2xi64>, tensor<4xi64>) -> (tensor<2x2xi64>, tensor<2xi64>, tensor<2x2xi64>, tensor<2xi64>)
    check.expect_eq_const %0#0, dense<[[1, 5], [3, 7]]> : tensor<2x2xi64>
    check.expect_eq_const %0#1, dense<[10, 20]> : tensor<2xi64>
    check.expect_eq_const %0#2, dense<[[2, 6], [4, 8]]> : tensor<2x2xi64>
    check.expect_eq_const %0#3, dense<[30, -40]> : tensor<2xi64>
    func.return
  }
}

// -----

// Results of operations on several values; replicas of each partition among themselves.
module @several {
  func.func @f(%x: tensor<1xi8>, %y: tensor<1xf64>) -> (tensor<2xf64>, tensor<2xi8>) {
    %0:2 = "stablehlo.all_gather"(%x, %y) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<1xi8>, tensor<1xf64>) -> (tensor<2xi8>, tensor<2xf64>)
    return %0#1, %0#0 : tensor<2xf64>, tensor<2xi8>
  }
  func.func @main() {
    %x0 = stablehlo.constant dense<0> : tensor<1xi8>
    %x1 = stablehlo.constant dense<1> : tensor<1xi8>
    %x2 = stablehlo.constant dense<2> : tensor<1xi8>
    %x3 = stablehlo.constant dense<3> : tensor<1xi8>
    %y0 = stablehlo.constant dense<0.5> : tensor<1xf64>
    %y1 = stablehlo.constant dense<1.5> : tensor<1xf64>
    %y2 = stablehlo.constant dense<2.5> : tensor<1xf64>
    %y3 = stablehlo.constant dense<3.5> : tensor<1xf64>
    %0:8 = "interpreter.run_parallel"(%x0, %y0, %x1, %y1, %x2, %y2, %x3, %y3) {programs=[[@f, @f], [@f, @f]]} : (tensor<1xi8>, tensor<1xf64>, tensor<1xi8>, tensor<1xf64>, tensor<1xi8>, tensor<1xf64>, tensor<1xi8>, tensor<1xf64>) -> (tensor<2xf64>, tensor<2xi8>, tensor<2xf64>, tensor<2xi8>, tensor<2xf64>, tensor<2xi8>, tensor<2xf64>, tensor<2xi8>)
    check.expect_eq_const %0#0, dense<[0.5, 2.5]> : tensor<2xf64>
    check.expect_eq_const %0#1, dense<[0, 2]> : tensor<2xi8>
    check.expect_eq_const %0#2, dense<[1.5, 3.5]> : tensor<2xf64>
    check.expect_eq_const %0#3, dense<[1, 3]> : tensor<2xi8>
    check.expect_eq_const %0#4, dense<[0.5, 2.5]> : tensor<2xf64>
    check.expect_eq_const %0#5, dense<[0, 2]> : tensor<2xi8>
    check.expect_eq_const %0#6, dense<[1.5, 3.5]> : tensor<2xf64>
    check.expect_eq_const %0#7, dense<[1, 3]> : tensor<2xi8>
    func.return
  }
}

// -----

// What nobody sends to is zeros; the first of a group sends.
module @sent {
  func.func @f(%x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 2], [2, 0]]> : tensor<2x2xi64>} : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>} : (tensor<i32>) -> tensor<i32>
    return %0, %1 : tensor<i32>, tensor<i32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<5> : tensor<i32>
    %b = stablehlo.constant dense<6> : tensor<i32>
    %c = stablehlo.constant dense<7> : tensor<i32>
    %0:6 = "interpreter.run_parallel"(%a, %b, %c) {programs=[[@f], [@f], [@f]]} : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
    check.expect_eq_const %0#0, dense<7> : tensor<i32>
    check.expect_eq_const %0#1, dense<0> : tensor<i32>
    check.expect_eq_const %0#2, dense<0> : tensor<i32>
    check.expect_eq_const %0#3, dense<7> : tensor<i32>
    check.expect_eq_const %0#4, dense<5> : tensor<i32>
    check.expect_eq_const %0#5, dense<7> : tensor<i32>
    func.return
  }
}

// -----

// One participant, which has a loop.
module @alone {
  func.func @f(%n: tensor<i32>) -> (tensor<i32>, tensor<ui32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %n, %s = %zero) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.subtract %i, %one : tensor<i32>
      %t = stablehlo.add %s, %i : tensor<i32>
      stablehlo.return %next, %t : tensor<i32>, tensor<i32>
    }
    %p = stablehlo.partition_id : tensor<ui32>
    return %0#1, %p : tensor<i32>, tensor<ui32>
  }
  func.func @main() {
    %n = stablehlo.constant dense<4> : tensor<i32>
    %0:2 = "interpreter.run_parallel"(%n) {programs=[[@f]]} : (tensor<i32>) -> (tensor<i32>, tensor<ui32>)
    check.expect_eq_const %0#0, dense<10> : tensor<i32>
    check.expect_eq_const %0#1, dense<0> : tensor<ui32>
    func.return
  }
}

// -----

// The same function alone and among others: alone a sum is of one.
module @alone_first {
  func.func private @total(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = call @total(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %b = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf32>
    %0 = call @total(%a) : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_eq %0, %a : tensor<2xf32>
    %1:2 = "interpreter.run_parallel"(%a, %b) {programs=[[@f, @f]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    check.expect_eq_const %1#0, dense<[11.0, 22.0]> : tensor<2xf32>
    check.expect_eq_const %1#1, dense<[11.0, 22.0]> : tensor<2xf32>
    %2 = call @total(%a) : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_eq %2, %a : tensor<2xf32>
    func.return
  }
}

// -----

module @alone_last {
  func.func private @total(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = call @total(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %b = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf32>
    %1:2 = "interpreter.run_parallel"(%a, %b) {programs=[[@f, @f]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    check.expect_eq_const %1#0, dense<[11.0, 22.0]> : tensor<2xf32>
    check.expect_eq_const %1#1, dense<[11.0, 22.0]> : tensor<2xf32>
    %2 = call @total(%a) : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_eq %2, %a : tensor<2xf32>
    %3 = call @total(%a) : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_eq %3, %a : tensor<2xf32>
    func.return
  }
}
