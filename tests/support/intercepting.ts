/**
 * A port one of whose methods goes through the test, which may delay a call, refuse it, or note it.
 * @param act calls the method itself, or does not
 */
export function intercepting<T extends object>(
  port: T,
  method: keyof T & string,
  act: (call: () => unknown, args: readonly unknown[]) => unknown,
): T {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const call = (): unknown => Reflect.apply(value, target, args);
        return name === method ? act(call, args) : call();
      };
    },
  });
}
