/**
 * The operations that pages read with `useQuery` and carry out with `call`, by name. To add one: its types here, its
 * topics in `TOPICS_OF`, and its route in `http/operationRoutes.ts`. Under Meteor it is the method of its name.
 */
import type * as v from 'valibot';
import type { OPERATIONS } from '../../host/operations';
import { OPERATION_TABLE } from './operationTable';
import type { ProviderHealth, ProviderModels, VendorInfo } from '../../business/ai/domain/types/ProviderViews';
import type { Topic } from '../../business/ai/domain/types/Topics';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import type { ProviderDetails } from '../../business/providers/domain/entities/ProviderDetails';

/** Arguments are JSON; times are milliseconds since the epoch. */
export interface Operations {
  'ai.providers.list': { argument: NoArgument; result: readonly PublicProvider[] };
  /** The fields are those of `ai.providers.create` in docs/guides/providers.md. */
  'ai.providers.create': { argument: ProviderFields; result: PublicProvider };
  'ai.providers.update': { argument: ProviderFields & NamedProvider; result: PublicProvider };
  'ai.providers.remove': { argument: NamedProvider; result: PublicProvider };
  /** `null` removes the key. */
  'ai.providers.setApiKey': { argument: NamedProvider & { readonly apiKey: string | null }; result: PublicProvider };
  'ai.providers.setMyApiKey': { argument: NamedProvider & { readonly apiKey: string | null }; result: PublicProvider };
  'ai.providers.test': { argument: NamedProvider; result: PublicProvider };
  /** The result is the URL of the vendor's authorization page. */
  'ai.providers.connect': { argument: NamedProvider; result: string };
  'ai.providers.disconnect': { argument: NamedProvider; result: PublicProvider };
  'ai.providers.get': { argument: NamedProvider; result: ProviderDetails };
  'ai.providers.vendors': { argument: NoArgument; result: readonly VendorInfo[] };
  'ai.providers.models': { argument: NamedProvider; result: ProviderModels };
  'ai.providers.health': { argument: NoArgument; result: readonly ProviderHealth[] };
}

type Defined = (typeof OPERATIONS)[number];
type DefinedName = Defined['name'];
type DefinitionOf<N extends DefinedName> = Extract<Defined, { readonly name: N }>;

export type OperationName = keyof Operations | DefinedName;
/** Arguments are JSON; times are milliseconds since the epoch. */
export type ArgumentOf<N extends OperationName> = N extends DefinedName
  ? DeepReadonly<v.InferInput<DefinitionOf<N>['argument']>>
  : N extends keyof Operations
    ? Operations[N]['argument']
    : never;
export type ResultOf<N extends OperationName> = N extends DefinedName
  ? Awaited<ReturnType<DefinitionOf<N>['execute']>>
  : N extends keyof Operations
    ? Operations[N]['result']
    : never;

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

export type ProviderFields = Readonly<Record<string, unknown>>;

export interface NamedProvider {
  readonly providerId: string;
}

/** `{}` */
export type NoArgument = Readonly<Record<string, never>>;

const DEFINED_TOPICS = Object.fromEntries(
  Object.entries(OPERATION_TABLE).map(([name, { topics }]) => [name, topics]),
) as Readonly<Record<DefinedName, readonly Topic[]>>;

/** A query is reloaded when one of its topics changes; a command changes its topics. */
export const TOPICS_OF: Readonly<Record<OperationName, readonly Topic[]>> = {
  ...DEFINED_TOPICS,
  'ai.providers.list': ['providers'],
  'ai.providers.create': ['providers'],
  'ai.providers.update': ['providers'],
  'ai.providers.remove': ['providers'],
  'ai.providers.setApiKey': ['providers'],
  'ai.providers.setMyApiKey': ['providers'],
  'ai.providers.test': ['providers'],
  'ai.providers.connect': ['providers'],
  'ai.providers.disconnect': ['providers'],
  'ai.providers.get': ['providers'],
  'ai.providers.vendors': [],
  'ai.providers.models': ['providers'],
  'ai.providers.health': ['providers', 'runs', 'requests'],
};
