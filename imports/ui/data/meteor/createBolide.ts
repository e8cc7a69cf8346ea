/** The methods of Bolide as functions, such as `bolide.runs.start({ … })`, with the types of their operations. */
import { newRequestId } from '../../conversations/newRequestId';
import type { ArgumentOf, OperationName, ResultOf } from '../operations';
import type { BrowserPackages } from './BrowserPackages';
import { callMethod } from './callMethod';
import type { MethodKinds } from './MethodKinds';
import { METHOD_TABLE } from './methodTable';

/** Every method of Bolide, by name. */
export type AIMethods = {
  readonly [N in OperationName]: { readonly argument: MethodArgument<N>; readonly result: ResultOf<N> };
};

/** A request that names no id gets one. */
type MethodArgument<N extends OperationName> =
  ArgumentOf<N> extends { readonly requestId: string }
    ? Omit<ArgumentOf<N>, 'requestId'> & { readonly requestId?: string }
    : ArgumentOf<N>;

type Group = OperationName extends infer N ? (N extends `ai.${infer G}.${string}` ? G : never) : never;
type NamedIn<G extends Group> = Extract<OperationName, `ai.${G}.${string}`>;
type ShortName<N extends OperationName> = N extends `ai.${string}.${infer Short}` ? Short : never;

/** The argument may be left out if all of its fields may be. */
type MethodCall<N extends OperationName> =
  object extends MethodArgument<N>
    ? (argument?: MethodArgument<N>) => Promise<ResultOf<N>>
    : (argument: MethodArgument<N>) => Promise<ResultOf<N>>;

/**
 * `bolide.runs.start` calls `ai.runs.start`. Each rejects with a `DashboardError`, which has the `code` of the server's
 * error.
 */
export type Bolide = {
  readonly [G in Group]: { readonly [N in NamedIn<G> as ShortName<N>]: MethodCall<N> };
};

/**
 * What names a request, or changes nothing, is sent again after a lost connection; what else changes something is not,
 * and rejects with `invocation-failed`.
 */
export function createBolide({ Meteor }: Pick<BrowserPackages, 'Meteor'>): Bolide {
  const groups = Object.entries<MethodKinds[string]>(METHOD_TABLE).map(([group, methods]) => [
    group,
    Object.fromEntries(
      Object.entries(methods).map(([name, kind]) => [
        name,
        (argument: object = {}): Promise<unknown> => {
          const request = kind === 'identified' ? { requestId: newRequestId(), ...argument } : argument;
          return callMethod(Meteor, `ai.${group}.${name}`, request, { isRepeatable: kind !== 'once' });
        },
      ]),
    ),
  ]);
  // The table is written from the definitions that the type follows from.
  return Object.fromEntries(groups) as Bolide;
}
