/** Returns the last result again as long as the argument is the same. */
export function memoize<A, R>(compute: (argument: A) => R): (argument: A) => R {
  let last: { readonly argument: A; readonly result: R } | undefined;
  return (argument) => {
    if (last === undefined || !Object.is(last.argument, argument)) last = { argument, result: compute(argument) };
    return last.result;
  };
}
