/** The providers and models that a caller may use. */
import { offeredModels } from '../../../business/ai/application/operations/offeredModels';
import { assertModelPermitted } from '../../../business/ai/application/services/shared/assertModelPermitted';
import { permitsModel } from '../../../business/ai/domain/entities/modelPatterns';
import { permittedProviders } from '../../../business/ai/application/operations/permittedProviders';
import { LLMModelNotFoundError } from '../../../business/ai/domain/errors/LLMErrors';
import { unknownModel } from '../../../business/ai/domain/errors/unknownModel';
import type { AccessPolicy } from '../../../business/ai/domain/interfaces/AccessPolicy';
import type { ModelCapabilities } from '../../../business/ai/domain/interfaces/ILLMProvider';
import type { WireName } from '../../../business/ai/domain/types/VendorTypes';
import type { AIModule } from '../../../business/ai/infrastructure/factories/createAIModule';
import { VENDOR_ROWS } from '../../../business/ai/infrastructure/vendors/vendors';
import { modelOfTarget, providerOfTarget } from '../../../business/ai/domain/entities/RoutingRule';
import type { RoutingRule, RoutingTarget } from '../../../business/ai/domain/entities/RoutingRule';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { GenerateOptions, SelectedRoute } from '../../../business/ai/domain/types/LLMTypes';
import { toActor } from '../../auth/ApiPrincipal';
import type { ApiPrincipal } from '../../auth/ApiPrincipal';
import { resolveModel } from './resolveModel';
import { VendorModelLists } from './VendorModelLists';

export interface ResolvedModel {
  readonly providerId: string;
  /** Absent: the provider's default. */
  readonly model?: string;
  /** The model in the form that the manager routes. */
  readonly address: string;
  /** The wire that the provider uses for a client of the requested wire. */
  readonly wire: WireName | undefined;
  readonly capabilities: ModelCapabilities;
  /** The targets of the routing rule that was requested: `address` is the first. */
  readonly route?: SelectedRoute;
}

/** What a routing rule considers besides its own settings. */
export interface RouteHints {
  readonly options?: GenerateOptions;
  readonly isStream?: boolean;
  /** Finds the provider that has stored what the request continues. */
  readonly findKeeper?: () => Promise<string | undefined>;
}

export interface ListedModel {
  /** Valid as a request's `model`. */
  readonly id: string;
  /** `bolide` for a routing rule. */
  readonly providerId: string;
  /** Absent for a default that only the vendor knows, and for a routing rule. */
  readonly model?: string;
  /** Absent for a model of which nothing is known but its name. */
  readonly capabilities?: ModelCapabilities;
}

export interface ModelDirectoryPorts {
  readonly module: Pick<AIModule, 'providers' | 'routing'>;
  /** Default: everyone may use every provider. */
  readonly access?: AccessPolicy;
}

/** Whom the lists of models name as the provider of a routing rule. */
const RULE_OWNER = 'bolide';

export type ProviderRow = ReturnType<AIModule['providers']['rows']>[number];

export class ModelDirectory {
  private readonly ports: ModelDirectoryPorts;
  private readonly lists = new VendorModelLists();

  constructor(ports: ModelDirectoryPorts) {
    this.ports = ports;
  }

  /** @throws LLMModelNotFoundError with the candidates */
  async resolve(
    principal: ApiPrincipal,
    requested: string | undefined,
    wire: WireName,
    hints: RouteHints = {},
  ): Promise<ResolvedModel> {
    const rows = await this.visible(principal);
    const route = await this.routeOf(principal, requested, rows, hints);
    const { providerId, model } = resolveModel(route?.targets[0] ?? requested, rows);
    if (route === undefined) this.assertPermitted(principal, requested, { providerId, model });
    const provider = this.ports.module.providers.get(providerId);
    if (provider === undefined)
      throw new LLMModelNotFoundError(`The provider '${providerId}' no longer exists.`, { path: 'model' });
    return {
      providerId,
      ...omitUndefined({ model }),
      address: model === undefined ? providerId : `${providerId}/${model}`,
      wire: provider.wireOf?.(wire),
      capabilities: provider.getCapabilities(model ?? '', wire),
      ...omitUndefined({ route }),
    };
  }

  /**
   * The routing rules, then the models of each provider, its default first: those it is restricted to, or else those
   * its vendor lists.
   */
  async list(principal: ApiPrincipal): Promise<readonly ListedModel[]> {
    const rows = await this.visible(principal);
    const { rules } = this.ports.module.routing;
    await rules.refresh();
    const routes = rules.all().flatMap(({ rule }) => this.describeRule(principal, rule, rows) ?? []);
    const lists = await Promise.all(
      rows.map(async (row) => {
        const names = await this.offeredBy(row, principal);
        // A provider's own name stands for its default model.
        return (names.length === 0 ? [undefined] : names).map((name) => this.describe(row, name));
      }),
    );
    const models = principal.token?.models;
    const listed = lists.flat();
    return [
      ...routes,
      ...(models === undefined ? listed : listed.filter((model) => permitsModel(models, namesOf(model)))),
    ];
  }

  /**
   * The model of a name that is valid in a request, by that name.
   * @throws LLMModelNotFoundError with the candidates
   */
  async find(principal: ApiPrincipal, requested: string): Promise<ListedModel> {
    const rows = await this.visible(principal);
    const rule = await this.ruleOf(requested);
    if (rule !== undefined) {
      const listed = this.describeRule(principal, rule, rows);
      if (listed === undefined) throw unknownModel(requested);
      return listed;
    }
    const { providerId, model } = resolveModel(requested, rows);
    this.assertPermitted(principal, requested, { providerId, model });
    const row = rows.find(({ id }) => id === providerId);
    return row === undefined
      ? { id: requested, providerId }
      : { ...this.describe(row, model ?? offeredModels(row, VENDOR_ROWS[row.vendor]).defaultModel), id: requested };
  }

  /** @throws LLMPermissionError for a model that the caller's API token may not use */
  assertPermitted(
    { token }: ApiPrincipal,
    requested: string | undefined,
    { providerId, model }: { readonly providerId: string; readonly model?: string | undefined },
  ): void {
    if (token?.models === undefined) return;
    const name = model ?? this.ports.module.providers.defaultModelOf(providerId);
    const names = namesOf(omitUndefined({ id: requested ?? providerId, providerId, model: name }));
    assertModelPermitted({ name: token.name, models: token.models }, names);
  }

  private async ruleOf(requested: string | undefined): Promise<RoutingRule | undefined> {
    const { rules } = this.ports.module.routing;
    if (!rules.isFresh) await rules.refresh();
    return requested === undefined ? undefined : rules.find(requested);
  }

  private async routeOf(
    principal: ApiPrincipal,
    requested: string | undefined,
    rows: readonly ProviderRow[],
    { options, isStream = false, findKeeper }: RouteHints,
  ): Promise<SelectedRoute | undefined> {
    const rule = await this.ruleOf(requested);
    if (rule === undefined) return undefined;
    const keeper = await findKeeper?.();
    return this.ports.module.routing.select(rule, {
      userId: principal.userId,
      isStream,
      permits: this.permits(principal, rule, rows),
      options,
      keeper,
    });
  }

  /** Whether the caller may use a target. A token that is restricted to models may name the rule or the target. */
  private permits(
    { token }: ApiPrincipal,
    { name }: RoutingRule,
    rows: readonly ProviderRow[],
  ): (target: RoutingTarget) => boolean {
    const models = token?.models;
    const permitsAll = models === undefined || permitsModel(models, [name]);
    return (target) => {
      const providerId = providerOfTarget(target);
      if (!rows.some(({ id }) => id === providerId)) return false;
      if (permitsAll) return true;
      const model = modelOfTarget(target) ?? this.ports.module.providers.defaultModelOf(providerId);
      return permitsModel(models, namesOf(omitUndefined({ id: target.model, providerId, model })));
    };
  }

  /** @returns undefined for a rule whose targets the caller may not use */
  private describeRule(
    principal: ApiPrincipal,
    rule: RoutingRule,
    rows: readonly ProviderRow[],
  ): ListedModel | undefined {
    const permitted = rule.targets.filter(this.permits(principal, rule, rows));
    const capabilities = rule.enabled ? this.ports.module.routing.capabilitiesOf(permitted) : undefined;
    return capabilities === undefined ? undefined : { id: rule.name, providerId: RULE_OWNER, capabilities };
  }

  private async offeredBy(row: ProviderRow, { userId }: ApiPrincipal): Promise<readonly string[]> {
    const provider = this.ports.module.providers.get(row.id);
    const isRestricted = row.allowedModels !== undefined;
    const listed = isRestricted || provider === undefined ? undefined : await this.lists.read(provider, userId);
    return offeredModels(row, VENDOR_ROWS[row.vendor], listed).names;
  }

  private describe({ id: providerId }: ProviderRow, model: string | undefined): ListedModel {
    if (model === undefined) return { id: providerId, providerId };
    const capabilities = this.ports.module.providers.get(providerId)?.getCapabilities(model);
    return {
      id: `${providerId}/${model}`,
      providerId,
      model,
      ...(capabilities === undefined || capabilities.isWindowUnknown === true ? {} : { capabilities }),
    };
  }

  /** The providers that the caller may use, the default one first. */
  async visible(principal: ApiPrincipal): Promise<readonly ProviderRow[]> {
    const { module, access } = this.ports;
    await module.providers.refresh();
    const providers = module.providers.rows();
    return access === undefined ? providers : permittedProviders(access, toActor(principal), providers);
  }
}

/** The names by which lists of permitted models may name a model. */
function namesOf({ id, providerId, model }: Pick<ListedModel, 'id' | 'providerId' | 'model'>): readonly string[] {
  // Everything of the provider is permitted even if only the vendor knows its default model.
  return model === undefined ? [id, `${providerId}/`] : [id, `${providerId}/${model}`, model];
}
