/**
 * The declarations of `bolide/meteor-methods`, which give `Meteor.callAsync` the methods of Bolide. They are no part of
 * another entry: without Meteor's types, there is nothing to declare them for.
 * @param client the module of `bolide/meteor-client`
 */
export function meteorMethodTypes(client: string): string {
  return `/** The methods of Bolide for \`Meteor.callAsync\`: \`import type {} from 'bolide/meteor-methods'\`, anywhere in the app. */
import type { AIMethods } from '${client}';

type Argument<N extends keyof AIMethods> = AIMethods[N]['argument'];
type Request<N extends keyof AIMethods> = Argument<N> & { readonly requestId: string };
type Arguments<N extends keyof AIMethods> = N extends Identified
  ? [argument: Request<N>] | [providerId: string, input: unknown, ...rest: unknown[]]
  : object extends Argument<N>
    ? [argument?: Argument<N>]
    : [argument: Argument<N>];
type Identified = 'ai.llm.generateText' | 'ai.llm.generateJSON' | 'ai.llm.generateWithTools' | 'ai.runs.start';

/** No method of Bolide has the name, or takes the arguments. Methods of your own have names of their own. */
export interface NoSuchMethod {
  readonly noSuchMethod: never;
}

declare module 'meteor/meteor' {
  namespace Meteor {
    function callAsync<N extends keyof AIMethods>(name: N, ...args: Arguments<N>): Promise<AIMethods[N]['result']>;
    /** @deprecated No method of Bolide has the name, or takes the arguments. */
    function callAsync(name: \`ai.\${string}\`, ...args: readonly unknown[]): Promise<NoSuchMethod>;
  }
}
`;
}
