/** The filters of the audit trail. */
import type { Option } from '../components/form/fields';
import { ListFilters } from '../components/list/ListFilters';
import { useIsAdmin } from '../components/useIsAdmin';
import type { Route } from '../shell/route';
import { describeAuditFilter } from './auditFilter';
import { ACTION_LABELS, CHANNEL_LABELS, OUTCOME_STYLES, SUBJECT_LABELS } from './auditLabels';

/** Parameters of the filters that are behind the button. */
const MORE = ['via', 'userId', 'tokenId', 'subjectId', 'from', 'to'];

export function AuditFilters({ route }: { readonly route: Route }) {
  const isAdmin = useIsAdmin();
  return (
    <ListFilters
      route={route}
      search={{ label: 'Search ID, user, address or name', placeholder: 'Search ID, user, address, name' }}
      active={describeAuditFilter(route.query)}
      moreNames={MORE}
      more={({ labelledSelect, field, time }) => (
        <>
          {labelledSelect('via', 'Via', CHANNELS)}
          {isAdmin && field('userId', 'User ID')}
          {field('tokenId', 'API token ID')}
          {field('subjectId', 'ID of what it was done to')}
          {time('from', 'From')}
          {time('to', 'Up to')}
        </>
      )}
    >
      {({ select }) => (
        <>
          {select('outcome', 'Outcome', OUTCOMES)}
          {select('kind', 'About', KINDS)}
          {select('action', 'Action', ACTIONS)}
        </>
      )}
    </ListFilters>
  );
}

const OUTCOMES: readonly Option[] = Object.entries(OUTCOME_STYLES).map(([value, { label }]) => ({ value, label }));
const KINDS = optionsOf(SUBJECT_LABELS);
const ACTIONS = optionsOf(ACTION_LABELS);
const CHANNELS = optionsOf(CHANNEL_LABELS);

function optionsOf(labels: Readonly<Record<string, string>>): readonly Option[] {
  return Object.entries(labels)
    .map(([value, label]) => ({ value, label }))
    .toSorted((left, right) => left.label.localeCompare(right.label, 'en'));
}
