package qmgrd.load;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.settings.impl.AddressFullMessagePolicy;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;

/**
 * Apache Artemis in a process of its own, as `artemis create` would set it up: journal on disk, synced before a persistent send
 * is answered, its buffer's timeout measured on this disk. Arguments: port, directory. It runs until it is ended.
 */
public final class Broker {
    private static final int WRITES = 100;

    private Broker() {}

    /** The time in nanoseconds that one synced write of a page takes here. */
    private static int syncTime(Path dir) throws Exception {
        Path file = dir.resolve("sync");
        try (FileChannel f = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            f.write(ByteBuffer.allocate(4096 * WRITES));
            f.force(true);
            long start = System.nanoTime();
            for (int i = 0; i < WRITES; i++) {
                f.write(ByteBuffer.allocate(4096), 4096L * i);
                f.force(false);
            }
            return (int) ((System.nanoTime() - start) / WRITES);
        } finally {
            Files.delete(file);
        }
    }

    public static void main(String[] args) throws Exception {
        Path dir = Files.createDirectories(Path.of(args[1]));
        ConfigurationImpl c = new ConfigurationImpl();
        c.setPersistenceEnabled(true).setSecurityEnabled(false).setJMXManagementEnabled(false);
        c.setMaxDiskUsage(-1); // else it takes no messages where nine tenths of the disk are in use, by whomever
        c.setJournalDirectory(dir.resolve("journal").toString()).setBindingsDirectory(dir.resolve("bindings").toString());
        c.setPagingDirectory(dir.resolve("paging").toString()).setLargeMessagesDirectory(dir.resolve("large").toString());
        int sync = syncTime(dir);
        c.setJournalBufferTimeout_NIO(sync).setJournalBufferTimeout_AIO(sync);
        c.addAcceptorConfiguration("tcp", "tcp://127.0.0.1:" + args[0]);
        c.addAddressSetting("#", new AddressSettings().setMaxSizeBytes(64 << 20)
                .setAddressFullMessagePolicy(AddressFullMessagePolicy.BLOCK));
        new EmbeddedActiveMQ().setConfiguration(c).start();
        System.out.println("ready, journal buffer timeout " + sync + " ns");
        Thread.currentThread().join();
    }
}
