/** The DDP variables that server code may set: the invocation of the current method call, and the subscription. */
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
  _CurrentPublicationInvocation: {
    withValue: <Result>(value: Invocation, run: () => Result): Result => {
      // A publish function runs in no method.
      if (current.getStore() !== undefined) throw new Error('A publish function was called in a method invocation.');
      return current.run(value, run);
    },
  },
};
