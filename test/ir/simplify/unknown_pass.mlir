// A pass that does not exist is an error that names it.
// run: lazuli opt --passes=simplify,symplify %s
// error: symplify
module {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
