/**
 * What of each operation is in the audit trail. An operation without a rule does not compile: state that it only reads,
 * or its action, its subject and what of its argument may be recorded.
 */
import type { AuditRule } from '../../host/AuditRule';
import type { AuditExemption } from './auditOperations';
import { OPERATIONS } from '../../host/operations';
import type { DefinedOperations } from '../../host/operations';
import { READS } from './auditOperations';

type RulesOf<O> = { readonly [N in keyof O]: AuditRule | AuditExemption };

export const AUDIT_RULES = Object.fromEntries(
  OPERATIONS.map(({ name, audit }) => [name, typeof audit === 'object' ? audit : READS]),
) as unknown as RulesOf<DefinedOperations>;
