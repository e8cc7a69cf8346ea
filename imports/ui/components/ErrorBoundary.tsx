/** Shows an error in place of a page that could not be loaded or rendered. The frame around it remains usable. */
import { Component } from 'react';
import type { ReactNode } from 'react';
import { ErrorState } from './ErrorState';

export interface ErrorBoundaryProps {
  /** Another value discards the error, as a new page does. */
  readonly resetKey: string;
  readonly children: ReactNode;
}

interface ErrorBoundaryState {
  readonly error: Error | undefined;
  readonly resetKey: string;
}

export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  static getDerivedStateFromError(error: unknown): Partial<ErrorBoundaryState> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  static getDerivedStateFromProps(
    { resetKey }: ErrorBoundaryProps,
    state: ErrorBoundaryState,
  ): Partial<ErrorBoundaryState> | null {
    return resetKey === state.resetKey ? null : { error: undefined, resetKey };
  }

  override state: ErrorBoundaryState = { error: undefined, resetKey: this.props.resetKey };

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <ErrorState
        title="This page couldn’t be shown"
        // After an update of the server, an open page asks for files that are gone.
        message={`Reload to try again. ${error.message}`}
        retry={() => window.location.reload()}
      />
    );
  }
}
