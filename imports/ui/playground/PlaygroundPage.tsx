/** Asks any provider with chosen tools, and shows what happens as it happens. */
import { useEffect, useRef, useState } from 'react';
import { useData } from '../data/DataContext';
import { EmptyState, WhenLoaded } from '../components/Placeholders';
import { PageTitle } from '../components/PageTitle';
import { PlaygroundForm } from './PlaygroundForm';
import { PlaygroundRun } from './PlaygroundRun';

export function PlaygroundPage() {
  const data = useData();
  const providers = data.useProviders();
  const tools = data.useTools();
  const [executionId, setExecutionId] = useState<string>();
  const out = useRef<HTMLElement>(null);
  useEffect(() => {
    // On phones the run is below the form.
    if (executionId !== undefined && isBelow(out.current)) out.current?.scrollIntoView({ block: 'start' });
  }, [executionId]);
  return (
    <>
      <PageTitle title="Playground" />
      <div className="playground">
        <WhenLoaded loaded={providers} what="providers">
          {(list) => (
            <WhenLoaded loaded={tools} what="tools">
              {(offers) => (
                <PlaygroundForm
                  providers={list.filter((provider) => provider.enabled)}
                  tools={offers}
                  onStarted={setExecutionId}
                />
              )}
            </WhenLoaded>
          )}
        </WhenLoaded>
        <section ref={out} className="playground-out" aria-label="The run">
          {executionId === undefined ? (
            <div className="card">
              <EmptyState icon="spark" title="Nothing asked yet">
                The answer is written here while the model speaks, with every tool that it calls.
              </EmptyState>
            </div>
          ) : (
            <PlaygroundRun key={executionId} executionId={executionId} />
          )}
        </section>
      </div>
    </>
  );
}

/** Whether it begins where nobody sees it without a finger's help. */
function isBelow(element: HTMLElement | null): boolean {
  return element !== null && element.getBoundingClientRect().top > window.innerHeight * 0.7;
}
