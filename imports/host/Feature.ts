/**
 * A feature of a host: what it stores, what people can do with it, and how it works. The host opens the features of its
 * list, composes the AI module with their ports, and starts them.
 */
import type { ApiTokens } from '../api/auth/ApiTokens';
import type { Logger } from '../business/ai/domain/interfaces/Logger';
import type { AccessPolicy } from '../business/ai/domain/interfaces/AccessPolicy';
import type { SecretSealer } from '../business/ai/domain/interfaces/SecretSealer';
import type { NamesLookup, UserLookup, UserSearch } from '../business/ai/domain/types/Actor';
import type { Topic } from '../business/ai/domain/types/Topics';
import type { AIModule, AIModulePorts } from '../business/ai/infrastructure/factories/createAIModule';
import type { RunModule } from '../business/ai/infrastructure/factories/createRunOperations';
import type { ManagedJobQueue } from '../business/ai/infrastructure/jobs/ManagedJobQueue';
import type { AIStores } from '../business/ai/openStores';
import type { RotationResult } from '../business/providers/application/credentials/CredentialVault';
import type { ProvidersModule } from '../business/providers/infrastructure/factories/createProvidersModule';
import type { StorageBounds } from '../database/bounds/StorageBounds';
import type { UserStorage } from '../business/ai/domain/interfaces/UserStorage';
import type { DocumentDatabase } from '../database/DocumentDatabase';
import type { StoredCollection } from '../database/StoredCollection';
import type { ServicesOf } from './bindOperations';
import type { AnyOperation } from './defineOperation';
import type { UserContentKeys } from '../business/privacy/infrastructure/UserContentKeys';
import type { UsageRecorder } from './UsageRecorder';
import type { HostPorts, HostSettings } from './HostSettings';

export interface Feature<
  N extends string,
  D extends readonly AnyOperation[],
  O extends object,
  S extends StartedFeature<ServicesOf<D>>,
> {
  readonly name: N;
  readonly collections: readonly StoredCollection[];
  readonly operations: D;
  /** Opens what it starts with; `ports` are what the AI module takes of it. @throws errors of the database */
  readonly open: (host: FeatureHost) => (O & OpenedFeature) | Promise<O & OpenedFeature>;
  readonly start: (host: RunningHost, opened: O) => S | Promise<S>;
}

export interface OpenedFeature {
  readonly ports?: Partial<AIModulePorts>;
}

/** Numbers of removed documents, by kind. */
export type RemovedCounts = Readonly<Record<string, number>>;

export interface StartedFeature<S = unknown> {
  /** What carries its operations out. */
  readonly services: S;
  /** Ends the user's access, before the requests and runs in progress are cancelled. */
  readonly revokeUser?: (userId: string) => Promise<RemovedCounts>;
  /** Drops what is in memory of the user. @param keepsLimits whether the counters of limits stay */
  readonly forgetUser?: (userId: string, keepsLimits: boolean) => void;
  /** Removes documents that services remove with what they have in memory of them. @param keepsLimits as above */
  readonly removeUser?: (userId: string, keepsLimits: boolean) => Promise<RemovedCounts>;
  /** Removes what identifies the user from documents that stay, once everything else is removed. */
  readonly pseudonymizeUser?: (userId: string) => Promise<void>;
  /** Seals its secrets with the operator's newest key. */
  readonly reseal?: () => Promise<RotationResult>;
  /** Resolves when what is in memory is written. */
  readonly flush?: () => Promise<void>;
  /** Starts nothing new: the process is about to end. */
  readonly leave?: () => void;
  /** Called once the runs are handed over. */
  readonly close?: () => Promise<void>;
}

/** What features are opened with. */
export interface FeatureHost {
  readonly settings: HostSettings;
  readonly ports: HostPorts;
  readonly database: DocumentDatabase;
  /** What all features store. */
  readonly collections: readonly StoredCollection[];
  readonly bounds: StorageBounds;
  readonly storage: UserStorage;
  readonly logger: Logger;
  /** Has open pages load again what they show of the topic. @param userId whose; default: everybody's */
  readonly notify: (topic: Topic, userId?: string) => void;
  readonly findUser: UserLookup;
  readonly findNames: NamesLookup;
  readonly searchUsers: UserSearch;
  /** The app's accounts. Undefined: any user id may have tokens and budgets. */
  readonly accounts: UserLookup | undefined;
  readonly tokens: ApiTokens;
  readonly providers: ProvidersModule;
  /** Counts tokens towards the limits of providers. */
  readonly tokenUsage: UsageRecorder;
  /** The keys of users' content. Undefined: nothing is sealed. */
  readonly contentKeys: UserContentKeys | undefined;
  /** Seals secrets with the operator's keys. */
  readonly sealer: SecretSealer;
  /** Where browsers reach the app, and the API below it, without a slash at the end. */
  readonly homeUrl: string;
  readonly rootUrl: string;
  /** The AI module, which is composed once all features are open. */
  readonly aiModule: () => AIModule;
}

/** What features are started with. */
export interface RunningHost extends FeatureHost {
  readonly ai: AIModule;
  readonly runs: RunModule;
  readonly stores: AIStores;
  readonly jobs: ManagedJobQueue;
  readonly access: AccessPolicy;
  /** The features that have been started so far. */
  readonly started: StartedFeature[];
  /** Cancels the user's HTTP requests. Resolves when they have ended. */
  readonly cancelRequests: (userId: string) => Promise<void>;
}

/** Infers the types of a feature from its parts. */
export function defineFeature<
  const N extends string,
  const D extends readonly AnyOperation[],
  O extends object,
  S extends StartedFeature<ServicesOf<D>>,
>(feature: Feature<N, D, O, S>): Feature<N, D, O, S> {
  return feature;
}

/** A feature that the AI module takes nothing of. */
export const nothingToOpen = (): OpenedFeature => ({});
