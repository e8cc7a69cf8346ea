/** The DDP variable that server code may set: the invocation of the current method call. */
import { current } from '../server/MethodInvocation';

interface Invocation {
  readonly userId: string | null;
  readonly connection: null;
}

export const DDP = {
  _CurrentMethodInvocation: {
    get: () => current.getStore(),
    withValue: <Result>(value: Invocation | undefined, run: () => Result): Result => current.run(value, run),
  },
};
