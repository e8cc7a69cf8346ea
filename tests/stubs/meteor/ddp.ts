/** What of DDP's own variables server code may set: whose method call it is that runs now. */
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
