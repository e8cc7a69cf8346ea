/** The operations that pages read with `useQuery` and carry out with `call`, by name, with the types that follow. */
import type * as v from 'valibot';
import type { OPERATIONS } from '../../host/operations';

type Definition = (typeof OPERATIONS)[number];
type DefinitionOf<N extends OperationName> = Extract<Definition, { readonly name: N }>;

export type OperationName = Definition['name'];
/** Arguments are JSON; times are milliseconds since the epoch. */
export type ArgumentOf<N extends OperationName> = DeepReadonly<v.InferInput<DefinitionOf<N>['argument']>>;
export type ResultOf<N extends OperationName> = Awaited<ReturnType<DefinitionOf<N>['execute']>>;

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;
