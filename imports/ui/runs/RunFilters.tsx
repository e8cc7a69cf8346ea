/** The filters of the list of runs. */
import { ListFilters } from '../components/list/ListFilters';
import { useData } from '../hooks/BolideProvider';
import type { Route } from '../shell/route';
import { describeRunFilter, RATINGS, STATE_FILTERS } from './runFilter';

/** Parameters of the filters that are behind the button. */
const MORE = [
  ...['userId', 'tool', 'tag', 'rating', 'conversationId', 'parentExecutionId'],
  ...['minCost', 'maxCost', 'minDuration', 'maxDuration', 'from', 'to'],
];

export function RunFilters({ route }: { readonly route: Route }) {
  const data = useData();
  const providers = data.useQuery('ai.providers.list', {});
  const models = data.useQuery('ai.models.list', {});
  const tools = data.useQuery('ai.tools.list', {});
  const providerId = route.query.get('providerId') ?? '';
  const modelNames = (models.state === 'ready' ? models.value.models : [])
    .filter((model) => providerId === '' || model.providerId === providerId)
    .flatMap(({ model }) => model ?? []);
  return (
    <ListFilters
      route={route}
      search={{ label: 'Search title, ID, user, model or tool', placeholder: 'Search title, ID, user, tool' }}
      active={describeRunFilter(route.query)}
      moreNames={MORE}
      more={({ labelledSelect, field, number, time }) => (
        <>
          {field('tool', 'Tool', tools.state === 'ready' ? tools.value.map(({ name }) => name) : [])}
          {field('tag', 'Tag')}
          {field('userId', 'User ID')}
          {field('conversationId', 'Conversation ID')}
          {field('parentExecutionId', 'Started by run')}
          {time('from', 'Created from')}
          {time('to', 'Created up to')}
          {number('minCost', 'Cost from ($)')}
          {number('maxCost', 'Cost up to ($)')}
          {number('minDuration', 'Duration from (s)')}
          {number('maxDuration', 'Duration up to (s)')}
          {labelledSelect('rating', 'Rating', RATING_OPTIONS)}
        </>
      )}
    >
      {({ select }) => (
        <>
          {select('state', 'State', STATES)}
          {select(
            'providerId',
            'Provider',
            (providers.state === 'ready' ? providers.value : []).map(({ _id, name }) => ({ value: _id, label: name })),
          )}
          {select(
            'model',
            'Model',
            [...new Set(modelNames)].sort().map((name) => ({ value: name, label: name })),
          )}
        </>
      )}
    </ListFilters>
  );
}

const STATES = Object.entries(STATE_FILTERS).map(([value, { label }]) => ({ value, label }));
const RATING_OPTIONS = Object.entries(RATINGS).map(([value, label]) => ({ value, label }));
