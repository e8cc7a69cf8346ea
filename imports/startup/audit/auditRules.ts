/**
 * What of each operation is in the audit trail. An operation without a rule does not compile: state that it only reads,
 * or its action, its subject and what of its argument may be recorded.
 */
import type { ProviderOperations } from '../../business/providers/application/operations/ProviderOperations';
import type { AuditRule } from '../../host/AuditRule';
import type { AuditExemption } from './auditOperations';
import { OPERATIONS } from '../../host/operations';
import type { DefinedOperations } from '../../host/operations';
import { READS } from './auditOperations';

type RulesOf<O> = { readonly [N in keyof O]: AuditRule | AuditExemption };

export const AUDIT_RULES = Object.fromEntries(
  OPERATIONS.map(({ name, audit }) => [name, typeof audit === 'object' ? audit : READS]),
) as unknown as RulesOf<DefinedOperations>;

const OF_PROVIDER = { kind: 'provider', id: 'providerId', owner: 'provider' } as const;
const PROVIDER_FIELDS = [
  'name',
  'vendor',
  'auth',
  'apiKey',
  'wire',
  'baseURL',
  'deployment',
  'apiVersion',
  'defaultModel',
  'allowedModels',
  'owner',
  'access',
  'limits',
  'enabled',
] as const;

/** The audit rules of `ai.providers.*`. */
export const PROVIDER_AUDIT_RULES: RulesOf<ProviderOperations> = {
  connect: { exempt: 'flow' },
  create: {
    action: 'provider.create',
    kind: 'provider',
    id: 'providerId',
    createdId: '_id',
    owner: { field: 'owner' },
    changed: PROVIDER_FIELDS,
    details: ['vendor'],
  },
  disconnect: { action: 'provider.disconnect', ...OF_PROVIDER },
  get: READS,
  health: READS,
  list: READS,
  models: READS,
  remove: { action: 'provider.remove', ...OF_PROVIDER },
  rotateKeys: { action: 'credentials.rotate', kind: 'credentials' },
  setApiKey: { action: 'provider.set_key', ...OF_PROVIDER },
  setMyApiKey: { action: 'provider.set_own_key', ...OF_PROVIDER },
  test: READS,
  update: { action: 'provider.update', ...OF_PROVIDER, changed: PROVIDER_FIELDS },
  vendors: READS,
};
