/** The filter of the audit trail: the parameters of the address as the argument of `ai.audit.list`. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import {
  AUDIT_ACTIONS,
  AUDIT_CHANNELS,
  AUDIT_OUTCOMES,
  AUDIT_SUBJECTS,
} from '../../business/ai/domain/types/AuditEntries';
import type { ActiveFilter } from '../components/list/ActiveFilters';
import { formatBound, readBounds, readText, readTexts } from '../components/list/filterParameters';
import type { ArgumentOf } from '../data/operations';
import { ACTION_LABELS, CHANNEL_LABELS, OUTCOME_STYLES, SUBJECT_LABELS } from './auditLabels';

const TEXTS = ['userId', 'tokenId', 'subjectId'] as const;
const BOUNDS = ['from', 'to'] as const;

/** What is invalid in an address is ignored. */
export function readAuditFilter(query: URLSearchParams): ArgumentOf<'ai.audit.list'> {
  const chosen = <T extends string>(name: string, values: readonly T[]): T | undefined =>
    values.find((value) => value === readText(query, name));
  const action = chosen('action', AUDIT_ACTIONS);
  const kind = chosen('kind', AUDIT_SUBJECTS);
  const via = chosen('via', AUDIT_CHANNELS);
  const outcome = chosen('outcome', AUDIT_OUTCOMES);
  return omitUndefined({
    action,
    kind,
    via,
    outcome,
    ...readTexts(query, ['search', ...TEXTS]),
    ...readBounds(query, BOUNDS),
  });
}

/** The filters that are in effect, by the parameter that sets them. */
export function describeAuditFilter(query: URLSearchParams): readonly ActiveFilter[] {
  const { search, action, kind, via, outcome, ...filter } = readAuditFilter(query);
  return [
    ...(search === undefined ? [] : [{ name: 'search', label: `Text: ${search}` }]),
    ...(typeof outcome === 'string' ? [{ name: 'outcome', label: OUTCOME_STYLES[outcome].label }] : []),
    ...(typeof action === 'string' ? [{ name: 'action', label: ACTION_LABELS[action] }] : []),
    ...(kind === undefined ? [] : [{ name: 'kind', label: SUBJECT_LABELS[kind] }]),
    ...(via === undefined ? [] : [{ name: 'via', label: `Via ${CHANNEL_LABELS[via]}` }]),
    ...TEXTS.flatMap((name) => {
      const value = filter[name];
      return value === undefined ? [] : [{ name, label: `${LABELS[name]}: ${value}` }];
    }),
    ...BOUNDS.flatMap((name) => {
      const value = filter[name];
      return value === undefined ? [] : [{ name, label: `${LABELS[name]} ${formatBound(name, value)}` }];
    }),
  ];
}

const LABELS: Readonly<Record<(typeof TEXTS)[number] | (typeof BOUNDS)[number], string>> = {
  userId: 'User',
  tokenId: 'API token',
  subjectId: 'On',
  from: 'From',
  to: 'Up to',
};
