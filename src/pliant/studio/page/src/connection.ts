/** The WebSocket: reconnects by itself, acknowledges every frame that was drawn. */

import { decode, type Frame, type Json } from "./protocol";

export interface Handlers {
  text: (message: Record<string, Json>) => void;
  frame: (frame: Frame) => void;
  state: (connected: boolean) => void;
}

export class Connection {
  private socket: WebSocket | null = null;
  private wait = 300;

  constructor(
    private readonly url: string,
    private readonly handlers: Handlers,
  ) {
    this.open();
  }

  private open(): void {
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.wait = 300;
      this.handlers.state(true);
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.handlers.text(JSON.parse(event.data) as Record<string, Json>);
      else this.handlers.frame(decode(event.data));
    };
    socket.onclose = () => {
      this.handlers.state(false);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(this.wait * 1.6, 5000);
    };
  }

  /** Says something; lost while there is no connection, since the server's state is what counts. */
  say(message: Record<string, unknown>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Cuts the connection, as a bad network would. */
  drop(): void {
    this.socket?.close();
  }
}
