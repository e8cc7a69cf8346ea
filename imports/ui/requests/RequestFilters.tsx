/** The filters of the list of requests. */
import type { Option } from '../components/form/fields';
import { ListFilters } from '../components/list/ListFilters';
import { useData } from '../hooks/BolideProvider';
import type { Route } from '../shell/route';
import { describeRequestFilter } from './requestFilter';
import { API_LABELS, REQUEST_STATE_STYLES, SOURCE_LABELS } from './requestLabels';

/** Parameters of the filters that are behind the button. */
const MORE = ['source', 'model', 'userId', 'tokenId', 'executionId', 'minCost', 'minDuration', 'from', 'to'];

export function RequestFilters({ route }: { readonly route: Route }) {
  const loaded = useData().useQuery('ai.providers.list', {});
  const providers = loaded.state === 'ready' ? loaded.value : [];
  return (
    <ListFilters
      route={route}
      search={{
        label: 'Search ID, user, token, model or error',
        placeholder: 'Search ID, user, token, model, error',
      }}
      active={describeRequestFilter(route.query)}
      moreNames={MORE}
      more={({ labelledSelect, field, number, time }) => (
        <>
          {labelledSelect('source', 'Source', SOURCES)}
          {field('model', 'Model')}
          {field('userId', 'User ID')}
          {field('tokenId', 'API token ID')}
          {field('executionId', 'Run ID')}
          {time('from', 'Started from')}
          {time('to', 'Started up to')}
          {number('minCost', 'Cost from ($)')}
          {number('minDuration', 'Duration from (s)')}
        </>
      )}
    >
      {({ select }) => (
        <>
          {select('state', 'State', STATES)}
          {select('api', 'API', APIS)}
          {select(
            'providerId',
            'Provider',
            providers.map(({ _id, name }) => ({ value: _id, label: name })),
          )}
        </>
      )}
    </ListFilters>
  );
}

const STATES: readonly Option[] = Object.entries(REQUEST_STATE_STYLES).map(([value, { label }]) => ({ value, label }));
const APIS = optionsOf(API_LABELS);
const SOURCES = optionsOf(SOURCE_LABELS);

function optionsOf(labels: Readonly<Record<string, string>>): readonly Option[] {
  return Object.entries(labels).map(([value, label]) => ({ value, label }));
}
