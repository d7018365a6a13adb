package qmgrd.e2e;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Connections to a queue manager that can be cut: to it that looks as if the client's process were killed. */
final class Relay implements AutoCloseable {
    private final Target to;
    private final ServerSocket door;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private volatile boolean cut;

    Relay(Target t) throws IOException {
        to = t;
        door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    /** The same queue manager through this relay. */
    Target target() {
        return new Target(new String[] {"127.0.0.1", String.valueOf(door.getLocalPort()), to.channel, to.qmgr, to.queue});
    }

    private static void start(Runnable r) {
        Thread t = new Thread(r, "relay");
        t.setDaemon(true);
        t.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket in = door.accept();
                sockets.add(in);
                Socket out = new Socket(to.host, to.port);
                sockets.add(out);
                start(() -> copy(in, out));
                start(() -> copy(out, in));
                if (cut) {
                    close();
                }
            }
        } catch (IOException e) {
            close(); // the door is closed
        }
    }

    private void copy(Socket from, Socket into) {
        try {
            from.getInputStream().transferTo(into.getOutputStream());
        } catch (IOException e) {
            return; // it is cut
        } finally {
            close(from);
            close(into);
        }
    }

    private static void close(Socket s) {
        try {
            s.close();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Cuts all connections, and lets no more come. */
    @Override
    public void close() {
        cut = true;
        try {
            door.close();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        sockets.forEach(Relay::close);
    }
}
