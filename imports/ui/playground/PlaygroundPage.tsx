/** Tries prompts, models and tools: a conversation with one model, or with several side by side. */
import { useEffect } from 'react';
import type { RunDetail } from '../../business/ai/domain/types/RunViews';
import { EmptyState } from '../components/EmptyState';
import { PageTitle } from '../components/PageTitle';
import { WhenLoaded } from '../components/WhenLoaded';
import { useData } from '../hooks/BolideProvider';
import type { PageProps } from '../shell/PageProps';
import { replaceQuery } from '../shell/route';
import type { Route } from '../shell/route';
import { storeDraft } from './draftStorage';
import { PlaygroundWorkspace } from './PlaygroundWorkspace';
import { newRequestId } from '../conversations/newRequestId';
import { NO_MESSAGE } from './playgroundState';
import type { PlaygroundState } from './playgroundState';
import { toSettings } from './promptContent';

/** `?run=` opens a run. */
export function PlaygroundPage({ route }: PageProps) {
  const data = useData();
  const providers = data.useQuery('ai.providers.list', {});
  const tools = data.useQuery('ai.tools.list', {});
  const models = data.useQuery('ai.models.list', {});
  const opened = route.query.get('run') ?? undefined;
  const run = data.useQuery('ai.runs.get', opened === undefined ? undefined : { executionId: opened });
  return (
    <>
      <PageTitle title="Playground" />
      <WhenLoaded loaded={providers} what="providers">
        {(list) => {
          const enabled = list.filter((provider) => provider.enabled);
          if (enabled.length === 0) return <NoProvider />;
          return (
            <WhenLoaded loaded={tools} what="tools">
              {(toolList) => (
                <WhenLoaded loaded={models} what="models">
                  {({ models: modelList }) =>
                    opened === undefined ? (
                      <PlaygroundWorkspace providers={enabled} tools={toolList} models={modelList} />
                    ) : (
                      <WhenLoaded loaded={run} what="the run">
                        {(detail) => <OpenRun route={route} detail={detail} />}
                      </WhenLoaded>
                    )
                  }
                </WhenLoaded>
              )}
            </WhenLoaded>
          );
        }}
      </WhenLoaded>
    </>
  );
}

/** Replaces what the playground contains by the run, and leaves the address without it. */
function OpenRun({ route, detail }: { readonly route: Route; readonly detail: RunDetail }) {
  useEffect(() => {
    storeDraft(stateFromRun(detail));
    replaceQuery(route, {});
  }, [route, detail]);
  return null;
}

function NoProvider() {
  return (
    <div className="card">
      <EmptyState icon="providers" title="No provider to run on">
        Set a vendor’s API key on the server, or ask an administrator for access to a provider.
      </EmptyState>
    </div>
  );
}

/** Opens a run in the playground: its settings, and its message and answer as the beginning of a conversation. */
function stateFromRun({ run, plan }: RunDetail): PlaygroundState {
  const { _id: executionId, providerId, model = '' } = run;
  return {
    settings: toSettings(plan),
    draft: NO_MESSAGE,
    lanes: [
      {
        id: newRequestId(),
        // Continuing it is a conversation of its own: the run's may go on elsewhere.
        conversationId: newRequestId(),
        providerId,
        model,
        turns: [{ messageId: newRequestId(), requestId: newRequestId(), executionId }],
      },
    ],
  };
}
