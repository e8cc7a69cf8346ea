/**
 * An operation: something that people read or do. Its one definition is the Meteor method of its name, its HTTP routes,
 * its entries in the OpenAPI document and in the reference, the check of its argument, its permission, its entry in the
 * audit trail, and what the dashboard calls and reloads.
 */
import type { Actor } from '../business/ai/domain/types/Actor';
import type { Topic } from '../business/ai/domain/types/Topics';
import type { JsonObject } from '../business/ai/domain/types/VendorTypes';
import type * as v from 'valibot';
import type { AuditExemption, AuditRule } from './AuditRule';
import type { ArgumentSchema } from './schemas';

export type OperationName = `ai.${string}`;

/** Who may call it, and the scope that an API token needs. Nobody may without being signed in. */
export type Access = 'read' | 'generate' | 'approve' | 'admin';

export type HttpAddress = `${'GET' | 'POST' | 'DELETE'} /api/${string}`;

/**
 * An address of an operation. Its parameters are fields of the argument; the others are in the query of GET and DELETE,
 * and in the body of POST.
 */
export interface HttpRoute<R = unknown> {
  readonly address: HttpAddress;
  /** Default: 200. */
  readonly status?: 201 | 202;
  /** The field of the response that the result is. Default: the response is the result. */
  readonly field?: string;
  /** What the address says of the argument. */
  readonly argument?: JsonObject;
  /** The query and the body are not read, though the argument has more fields than the path. */
  readonly isPathOnly?: true;
  /** The media type of a file, which a handler of its own responds with. */
  readonly content?: string;
  /** Browsers save the response as a file of this name. */
  readonly fileName?: (result: R) => string;
  /** The API that the calls of a run which it starts are logged under. */
  readonly api?: string;
  /** The request goes on while the data of its user is deleted. */
  readonly isUncancellable?: true;
  /** @returns what clients of HTTP get instead of this error */
  readonly toError?: (error: unknown) => unknown;
}

interface Contract<N extends OperationName, S extends ArgumentSchema, R> {
  readonly name: N;
  /** What it does, as an imperative without a full stop: `Set the budget of a user`. */
  readonly summary: string;
  /** What a caller needs to know beyond the schemas, in sentences. */
  readonly description?: string;
  readonly access: Access;
  /** Exactly the fields of an object. */
  readonly argument: S;
  /** A valid argument, for the documentation. */
  readonly example?: JsonObject;
  /** The schema of the result, as far as it is documented: results have more fields. */
  readonly result: v.GenericSchema;
  /** The most specific first. Absent: it is called as a method of Meteor, and by the app's own code. */
  readonly http?: HttpAddress | HttpRoute<R> | readonly (HttpAddress | HttpRoute<R>)[];
  /** It calls a model, so fewer calls are allowed in a time. */
  readonly callsModel?: true;
  /** How often the argument is stored, and counts towards the caller's storage. Runs are counted where they start. */
  readonly stores?: 1 | 2;
  /** Something that counts towards the caller's storage is removed. */
  readonly removes?: true;
  /** Makes one argument of several, for a method that may be called so. */
  readonly toArgument?: (args: readonly unknown[]) => unknown;
}

/** It changes nothing. */
interface Query {
  /** Open pages call it again when one of these changes. */
  readonly reads: readonly Topic[];
  readonly audit?: AuditRule;
  readonly changes?: never;
}

interface Command {
  /** Open pages that read one of these are reloaded. */
  readonly changes: readonly Topic[];
  readonly audit: AuditRule | AuditExemption;
  readonly reads?: never;
}

export interface OperationCall<A> {
  readonly actor: Actor;
  readonly argument: A;
}

export type OperationDefinition<N extends OperationName, Services, S extends ArgumentSchema, R> = Contract<N, S, R> &
  (Query | Command) & {
    /** Throws LLMErrors. The actor is signed in, and has the access that the definition names. */
    readonly execute: (services: Services, call: OperationCall<v.InferOutput<S>>) => Promise<R>;
  };

/** A definition of which only the contract is of interest. */
export type AnyOperation = Contract<OperationName, ArgumentSchema, never> &
  (Query | Command) & { readonly execute: (services: never, call: never) => Promise<unknown> };

export function defineOperation<const N extends OperationName, Services, S extends ArgumentSchema, R>(
  definition: OperationDefinition<N, Services, S, R>,
): OperationDefinition<N, Services, S, R> {
  return definition;
}

/** A route with the parts of its address. */
export interface ResolvedRoute extends HttpRoute<never> {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  /** The names of the parameters in the path. */
  readonly parameters: readonly string[];
}

export function routesOf({ http = [] }: Pick<AnyOperation, 'http'>): readonly ResolvedRoute[] {
  const routes: readonly (HttpAddress | HttpRoute<never>)[] = isList(http) ? http : [http];
  return routes.map((given) => {
    const route = typeof given === 'string' ? { address: given } : given;
    const [method = '', path = ''] = route.address.split(' ');
    return {
      ...route,
      // The type of an address allows no others.
      method: method.toLowerCase() as ResolvedRoute['method'],
      path,
      parameters: [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name),
    };
  });
}

function isList(http: AnyOperation['http'] & {}): http is readonly (HttpAddress | HttpRoute<never>)[] {
  return Array.isArray(http);
}
