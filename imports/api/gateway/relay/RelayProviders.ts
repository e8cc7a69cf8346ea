/** Chooses the provider to which a request without a model is relayed. */
import type { HttpRequest } from '../../http/HttpMessages';
import type { ILLMProvider } from '../../../business/ai/domain/interfaces/ILLMProvider';
import type { RelayRequest, RelayResponse } from '../../../business/ai/domain/types/RelayTypes';
import type { VendorName, WireName } from '../../../business/ai/domain/types/VendorTypes';
import type { AIModule } from '../../../business/ai/infrastructure/factories/createAIModule';
import type { ApiPrincipal } from '../../auth/ApiPrincipal';
import { HttpError } from '../../http/HttpError';
import type { RequestContext } from '../../http/RequestContext';
import type { ModelDirectory, ProviderRow } from '../models/ModelDirectory';

/** Vendors whose APIs beyond models are alike. */
export type ApiFamily = 'openai' | 'anthropic';

const FAMILY_OF_WIRE: Readonly<Record<WireName, ApiFamily | undefined>> = {
  responses: 'openai',
  chat_completions: 'openai',
  anthropic_messages: 'anthropic',
  gemini: undefined,
  interactions: undefined,
};

export const PROVIDER_HEADER = 'x-bolide-provider';

/** The vendors of path aliases. */
const ALIASES: readonly (readonly [RegExp, VendorName])[] = [[/\/groq\/openai\/v1\//, 'groq']];

/** Copies of an API often have its models only. */
const COPIES: ReadonlySet<VendorName> = new Set(['llama', 'openai_compatible']);

export interface RelayTarget {
  readonly row: ProviderRow;
  readonly relay: (request: RelayRequest) => Promise<RelayResponse>;
}

export interface RelayProvidersPorts {
  readonly module: Pick<AIModule, 'providers'>;
  readonly models: Pick<ModelDirectory, 'visible'>;
}

export class RelayProviders {
  private readonly ports: RelayProvidersPorts;

  constructor(ports: RelayProvidersPorts) {
    this.ports = ports;
  }

  /**
   * The provider that the request names (`x-bolide-provider`, `?provider=`), that of the path's vendor, the one of
   * `knownId`, or else the first that the caller may use.
   * @throws HttpError 501 if the caller may use none, 404 if the one that the request names has no such API
   */
  async choose(context: RequestContext, family: ApiFamily, knownId?: string): Promise<RelayTarget> {
    const { principal, request, details } = context;
    const rows = await this.rowsOf(principal, family);
    const row = choose(rows, request, knownId);
    const provider = row === undefined ? undefined : this.ports.module.providers.get(row.id);
    if (row === undefined || provider?.relay === undefined)
      throw new HttpError(
        rows.length === 0 ? 501 : 404,
        `No provider that you may use has this API${candidates(rows)}`,
        { path: 'provider' },
      );
    details.provider = row.id;
    details.isSameApi = true;
    return { row, relay: (relayed) => send(provider, principal.userId, relayed) };
  }

  private async rowsOf(principal: ApiPrincipal, family: ApiFamily): Promise<readonly ProviderRow[]> {
    const rows = await this.ports.models.visible(principal);
    return rows.filter(({ id }) => familyOf(this.ports.module.providers.get(id)) === family);
  }
}

function send(provider: ILLMProvider, userId: string, request: RelayRequest): Promise<RelayResponse> {
  if (provider.relay === undefined) throw new HttpError(404, 'The provider has no such API.');
  return provider.relay(userId, request);
}

export function familyOf(provider: Pick<ILLMProvider, 'wireOf'> | undefined): ApiFamily | undefined {
  const wire = provider?.wireOf?.('chat_completions');
  return wire === undefined ? undefined : FAMILY_OF_WIRE[wire];
}

function choose(
  rows: readonly ProviderRow[],
  request: HttpRequest,
  knownId: string | undefined,
): ProviderRow | undefined {
  const named = namedProvider(request);
  if (named !== undefined) return rows.find(({ id }) => id === named);
  const alias = ALIASES.find(([pattern]) => pattern.test(request.originalUrl))?.[1];
  if (alias !== undefined) return rows.find(({ vendor }) => vendor === alias);
  if (knownId !== undefined) return rows.find(({ id }) => id === knownId);
  return rows.find(({ vendor }) => !COPIES.has(vendor)) ?? rows[0];
}

export function namedProvider({ headers, query }: HttpRequest): string | undefined {
  const named = headers[PROVIDER_HEADER] ?? query['provider'];
  return typeof named === 'string' && named !== '' ? named : undefined;
}

function candidates(rows: readonly ProviderRow[]): string {
  return rows.length === 0
    ? ', so it is not served.'
    : `, or the one that you named does not. Use one of: ${rows.map(({ id }) => id).join(', ')}.`;
}
