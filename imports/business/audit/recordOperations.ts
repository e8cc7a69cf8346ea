/** Wraps operations so that they are recorded in the audit trail, as their definitions say. */
import type { ActOptions, AuditRecorder } from '../ai/domain/interfaces/AuditRecorder';
import { fieldsOf } from '../ai/domain/util/json';
import { omitUndefined } from '../ai/domain/util/omitUndefined';
import type { Actor } from '../ai/domain/types/Actor';
import type { AuditAct } from '../ai/domain/types/AuditEntries';
import type { Operation } from '../ai/domain/types/Operation';
import type { JsonObject } from '../ai/domain/types/VendorTypes';
import type { AuditRule } from '../../host/AuditRule';
import type { OperationsOf } from '../../host/bindOperations';
import type { AnyOperation } from '../../host/defineOperation';
import { changedFields, detailsOf, textIn } from '../../host/auditedText';

export interface AuditedPorts {
  readonly trail: Pick<AuditRecorder, 'carryOut'>;
  /** The user whose a run or a provider is; undefined for an unknown one, and for one that is nobody's. */
  readonly ownerOf: Readonly<Record<'run' | 'provider', (id: string) => Promise<string | undefined>>>;
}

export function recordOperations<const D extends readonly AnyOperation[]>(
  definitions: D,
  operations: OperationsOf<D>,
  ports: AuditedPorts,
): OperationsOf<D> {
  const audited: Record<string, Operation> = { ...(operations as unknown as Readonly<Record<string, Operation>>) };
  for (const { name, audit } of definitions) {
    const operation = audited[name];
    if (operation !== undefined && typeof audit === 'object') audited[name] = auditOperation(operation, audit, ports);
  }
  return audited as unknown as OperationsOf<D>;
}

function auditOperation(operation: Operation, rule: AuditRule, { trail, ownerOf }: AuditedPorts): Operation {
  const { isSafe, createdId } = rule;
  const options: ActOptions<unknown> = {
    isSafe,
    idOf: createdId === undefined ? undefined : (result) => textIn(fieldsOf(result), createdId),
  };
  return async (actor, ...args) => {
    // Nobody who is not signed in gets further than the operation's first line.
    if (actor.userId === '') return operation(actor, ...args);
    const argument = fieldsOf(args[0]);
    if (rule.isPaged === true && argument['after'] !== undefined) return operation(actor, ...args);
    const ownerId = await ownerIn(rule, argument, actor, ownerOf);
    if (rule.isOfOthersOnly === true && ownerId === actor.userId) return operation(actor, ...args);
    return trail.carryOut(actor, actOf(rule, argument, ownerId), () => operation(actor, ...args), options);
  };
}

function actOf(rule: AuditRule, argument: JsonObject, ownerId: string | undefined): AuditAct {
  const { action, kind, id } = rule;
  const subjectId = typeof id === 'string' ? textIn(argument, id) : id?.(argument);
  const changed = changedFields(rule, argument);
  const details = detailsOf(rule, argument);
  return {
    action,
    subject: omitUndefined({ kind, id: subjectId, ownerId }),
    ...(changed.length === 0 ? {} : { changed }),
    ...(Object.keys(details).length === 0 ? {} : { details }),
  };
}

async function ownerIn(
  { owner }: AuditRule,
  argument: JsonObject,
  actor: Actor,
  ownerOf: AuditedPorts['ownerOf'],
): Promise<string | undefined> {
  if (owner === undefined) return undefined;
  if (owner === 'actor') return actor.userId;
  if (owner === 'run' || owner === 'provider') {
    const id = textIn(argument, owner === 'run' ? 'executionId' : 'providerId');
    return id === undefined ? undefined : ownerOf[owner](id);
  }
  return textIn(argument, owner.field) ?? (owner.orActor === true ? actor.userId : undefined);
}
