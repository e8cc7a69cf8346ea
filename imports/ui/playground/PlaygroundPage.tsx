/** Starts a run on any provider with any tools, and shows it live. */
import { useEffect, useRef, useState } from 'react';
import { useData } from '../hooks/BolideProvider';
import { EmptyState } from '../components/EmptyState';
import { WhenLoaded } from '../components/WhenLoaded';
import { PageTitle } from '../components/PageTitle';
import { PlaygroundForm } from './PlaygroundForm';
import { PlaygroundRun } from './PlaygroundRun';

export function PlaygroundPage() {
  const data = useData();
  const providers = data.useProviders();
  const tools = data.useTools();
  const [executionId, setExecutionId] = useState<string>();
  const output = useRef<HTMLElement>(null);
  useEffect(() => {
    // On phones the run is below the form.
    if (executionId !== undefined && isBelowFold(output.current)) output.current?.scrollIntoView({ block: 'start' });
  }, [executionId]);
  return (
    <>
      <PageTitle title="Playground" />
      <div className="playground">
        <WhenLoaded loaded={providers} what="providers">
          {(list) => {
            const enabled = list.filter((provider) => provider.enabled);
            if (enabled.length === 0) return <NoProvider />;
            return (
              <WhenLoaded loaded={tools} what="tools">
                {(toolList) => <PlaygroundForm providers={enabled} tools={toolList} onStarted={setExecutionId} />}
              </WhenLoaded>
            );
          }}
        </WhenLoaded>
        <section ref={output} className="playground-run" aria-label="Run">
          {executionId === undefined ? (
            <div className="card">
              <EmptyState icon="spark" title="No run yet">
                Enter a prompt and run it. The response and every tool call appear here as they happen.
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

function NoProvider() {
  return (
    <div className="card">
      <EmptyState icon="providers" title="No provider to run on">
        Set a vendor’s API key on the server, or ask an administrator for access to a provider.
      </EmptyState>
    </div>
  );
}

/** Whether most of the element is hidden until the page is scrolled. */
function isBelowFold(element: HTMLElement | null): boolean {
  return element !== null && element.getBoundingClientRect().top > window.innerHeight * 0.7;
}
