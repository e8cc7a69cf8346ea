/**
 * `bolide/meteor-methods`: types of `Meteor.callAsync('ai.…', …)`, for apps that import it.
 *
 * Meteor's own signature takes whatever these do not, so it is the result of wrong arguments that cannot be used.
 */
import type { AIMethods } from './createBolide';

type Arguments<N extends keyof AIMethods> = object extends AIMethods[N]['argument']
  ? [argument?: AIMethods[N]['argument']]
  : [argument: AIMethods[N]['argument']];

interface WrongArguments<N extends keyof AIMethods> {
  readonly 'these are no arguments of': N;
}

declare module 'meteor/meteor' {
  namespace Meteor {
    function callAsync<N extends keyof AIMethods>(name: N, ...args: Arguments<N>): Promise<AIMethods[N]['result']>;
    /** @deprecated These are no arguments of the method. */
    function callAsync<N extends keyof AIMethods>(name: N, ...args: readonly unknown[]): Promise<WrongArguments<N>>;
  }
}
